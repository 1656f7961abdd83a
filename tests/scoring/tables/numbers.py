"""Cases for `gsm8k` and `svamp`, labelled from the words of Section VII-D and Appendix D-D alone.

A case is (rule, gold, response, right).
"""

Case = tuple[str, str, str, bool]

MARKER: list[Case] = [
    ("gsm8k", "72", "48/2 = <<48/2=24>>24 clips in May.\n48+24 = <<48+24=72>>72 in all.\n#### 72", True),
    ("gsm8k", "15", "Each pays 90/6 = <<90/6=15>>15.\n#### 14", False),
    ("gsm8k", "2150", "So the car costs\n#### $2,150.00", True),
    ("gsm8k", "18", "####18", True),
    ("gsm8k", "36", "#### **36**", True),
    ("svamp", "25.0", "Adding the two amounts:\n\n#### Answer\n\n25", True),
    (
        "gsm8k",
        "30",
        "#### Step 1: Count the 12 eggs\n12 + 18 = 30\n#### Step 2: Conclude\nShe has 30 eggs.",
        True,
    ),
    ("gsm8k", "3", "#### 3. Conclusion\n\nTom is left with 17 marbles.", False),
    ("gsm8k", "5", "#### 5 or 6", False),
    ("gsm8k", "45", "#### 45%", True),
    ("gsm8k", "7", "#### 7.5", False),
    ("gsm8k", "40", "The answer is 40.\n\n#### 44", False),
    ("svamp", "-8.0", "#### -8 degrees", True),
    ("gsm8k", "9", "#### 11\n\nI checked this in 9 different ways.", False),
    ("gsm8k", "2", "#### Part 2\n\nHence each of them gets 21 sweets.", False),
    ("svamp", "44.0", "#### Final Answer: 44", True),
]

BOX_AND_DECLARED: list[Case] = [
    ("gsm8k", "96", "He drives \\(\\boxed{96}\\) miles over 4 days.", True),
    ("gsm8k", "15", "$\\boxed{\\text{15 apples}}$", True),
    ("gsm8k", "1260", "$$\\boxed{1{,}260}$$", True),
    ("svamp", "9.0", "\\[\\boxed{x = 9}\\]", True),
    ("gsm8k", "46", "\\boxed{460}\n\nDouble-check: 23 × 2 = 46.", False),
    ("gsm8k", "15", "Therefore, the final answer is 15 pages. (That's 3 pages more than yesterday.)", True),
    ("gsm8k", "32", "The answer is 28. This is 4 less than 32.", False),
    ("gsm8k", "120", "**Answer:** 120 minutes (2 hours)", True),
    ("gsm8k", "1.5", "**Final answer**: 90 minutes, i.e. 1.5 hours", False),
    ("gsm8k", "64", "The correct answer is therefore: 64", True),
    ("gsm8k", "10", "25 riders - 15 women = <<25-15=10>>10 men\nA: 10", True),
    ("svamp", "350.0", "So the answer is\n\n350", True),
    ("svamp", "6.0", "The final answer is $\\fbox{54}$; each of the 6 boxes holds 9.", False),
    ("gsm8k", "18", "Ans: 18.", True),
    ("gsm8k", "23", "<answer>23</answer>", True),
]

SEPARATORS: list[Case] = [
    ("gsm8k", "1234567", "In the end there are 1,234,567 stars.", True),
    ("gsm8k", "12500", "The stadium holds 12\u202f500 fans.", True),
    ("gsm8k", "100000", "So 100\u00a0000 people came.", True),
    ("gsm8k", "10000", "They raised \\$10\\,000 for the school.", True),
    ("gsm8k", "12500", "So she has 12, 500 fewer than Tim.", False),
    ("gsm8k", "2345", "They raised $2,345.60 in all.", False),
    ("gsm8k", "345", "Together they drove 2,345 miles.", False),
    ("gsm8k", "1", "The school needs 1,000 chairs.", False),
    ("svamp", "3600.0", "This makes $3{,}600$ seconds", True),
]

FRACTIONS: list[Case] = [
    ("svamp", "0.75", "The answer is 3/4.", True),
    ("svamp", "1.5", "She used 1 1/2 cups of flour.", True),
    ("svamp", "2.5", "She needs 2½ cups of milk.", True),
    ("gsm8k", "4.5", "Each child gets $\\dfrac{9}{2}$ dollars.", True),
    ("gsm8k", "0.33", "The answer is 1/3 of a pizza.", False),
    ("gsm8k", "2", "It takes 7/2 hours.", False),
    ("gsm8k", "5", "The share is $\\frac{3}{5}$ of the field.", False),
    ("gsm8k", "2500", "The tank holds 2.5e3 liters.", True),
    ("gsm8k", "602", "The answer is $6.02 \\times 10^2$.", True),
    ("gsm8k", "3", "There are $4 \\times 10^3$ grains.", False),
    ("svamp", "12.5", "Her total was $12.05.", False),
    ("svamp", "3.75", "Each gets $\\frac{15}{4} = 3.75$ dollars", True),
    ("gsm8k", "75", "The answer is 0.75.", False),
]

MONEY_AND_PERCENT: list[Case] = [
    ("gsm8k", "15", "Maria has to pay €15.", True),
    ("gsm8k", "450", "The total bill comes to ₹450/-.", True),
    ("gsm8k", "30", "He still owes US$30", True),
    ("svamp", "0.5", "Each pencil costs $0.50.", True),
    ("gsm8k", "75", "One orange costs 75 cents.", True),
    ("gsm8k", "25", "She paid $3 and 25 cents.", False),
    ("gsm8k", "12", "The price went up by 12 percent.", True),
    ("gsm8k", "60", "So the share of girls is 60\\%.", True),
    ("gsm8k", "80", "It's **$80.00**!", True),
    ("gsm8k", "99", "The ticket is $4.99.", False),
    ("gsm8k", "20", "She saves 20 % of her pay.", True),
]

SIGN_RANGE_DATE: list[Case] = [
    ("gsm8k", "-6", "At night the temperature is -6 degrees.", True),
    ("gsm8k", "6", "The result is minus 6.", False),
    ("gsm8k", "5", "It will take 3-5 days.", False),
    ("gsm8k", "7", "He works 4–7 hours a day.", False),
    ("gsm8k", "30", "The number is between 20 and 30.", False),
    ("gsm8k", "9", "She can bake 7 to 9 cakes.", False),
    ("gsm8k", "45", "Total – 45 apples", True),
    ("gsm8k", "20", "- Apples: 12\n- Pears: 8\n- Total: 20", True),
    ("gsm8k", "18", "Result:\n- 18 oranges", True),
    ("gsm8k", "-14", "What is left:\n\n- 14 roses", False),
    ("gsm8k", "12", "She is now a 12-year-old.", True),
    ("svamp", "7.0", "The change is +7.", True),
    ("gsm8k", "30", "They will arrive at 4:30 pm.", False),
    ("gsm8k", "4", "The ratio of cats to dogs is 3:4.", False),
    ("gsm8k", "240", "The answer is 240. (Solved on 2024-05-17)", True),
    ("gsm8k", "25", "Each bag holds 20 to 25 nuts.", False),
    ("gsm8k", "15", "The bus leaves at 8:15.", False),
    ("gsm8k", "1", "They mix paint and water 5:1.", False),
]

STEPS_AND_ORDINALS: list[Case] = [
    ("gsm8k", "15", "The answer is 15.\n\nSteps:\n1. Start with 10\n2. Add 5", True),
    ("gsm8k", "2", "Final answer: 80\n\nWhy?\n1) Half of the pie is gone.\n2) The rest is shared.", False),
    ("gsm8k", "3", "1. Buy 12.\n2. Eat 2, so 12 - 2 = 10 are left.\n3. Keep the rest.", False),
    ("gsm8k", "26", "Step 1: 4 × 5 = 20\nStep 2: 20 + 6 = 26", True),
    ("gsm8k", "4", "Step 3: 9 × 9 = 81\nStep 4: State the result.", False),
    ("gsm8k", "32", "On the 5th day he has 32 coins.", True),
    ("gsm8k", "7", "She has 40 stickers by the 7th week.", False),
    ("gsm8k", "1", "The total is 60 bricks [1].", False),
    ("svamp", "17.0", "**Step 2:** Subtract.\n\n29 - 12 = 17\n\n**So Kim has 17 cards left.**", True),
    ("gsm8k", "2", "Tom has 34 cards. He is in 2nd place.", False),
    ("gsm8k", "38", "1. Total: 50\n2. Sold: 12\n3. Left: 50 - 12 = 38", True),
]

UNITS: list[Case] = [
    ("gsm8k", "48", "The garden covers 48 square meters (m²).", True),
    ("gsm8k", "3", "The tank has a volume of 90 cm^3.", False),
    ("gsm8k", "36", "The carpet is $36 \\text{ ft}^{2}$.", True),
    ("gsm8k", "60", "His speed is 60 km/h.", True),
    ("gsm8k", "30", "She ran 30km.", True),
    ("gsm8k", "2", "The car emits 15 kg of CO2.", False),
    ("gsm8k", "24", "He needs 24 sheets of A4 paper.", True),
    ("svamp", "4.0", "He prints 9 pages on A4.", False),
    ("gsm8k", "9", "The wall is 81 m² large.", False),
    ("gsm8k", "14", "There're 14 kids in the room!!! 🎉", True),
]

CALCULATOR: list[Case] = [
    ("gsm8k", "7", "He has 3+4 = <<3+4=7>>7 apples", True),
    ("gsm8k", "15", "The total is 10+5=<<10+5=15>>16.", False),
    ("gsm8k", "22", "2*8=<<2*8=16>>16\n3*2=<<3*2=6>>6\n16+6=<<16+6=22>>22 pencils", True),
    ("gsm8k", "35", "So he earns $<<5*7=35>>35 per week.", True),
    ("gsm8k", "6", "Thus each gets 6/2 = <<6/2=3>>3 cookies.", False),
]

HEDGES: list[Case] = [
    ("svamp", "10.0", "It is either 10 or 12.", False),
    ("gsm8k", "8", "It could be 7 or 8.", False),
    ("gsm8k", "13", "Is it 12 or 13? Counting again, the answer is 13.", True),
    ("gsm8k", "15", "The answer is not 15.", False),
    ("gsm8k", "21", "The answer is 21, not 22.", True),
    ("gsm8k", "17", "The answer is 16 and not 17.", False),
    ("gsm8k", "50", "The answer is more than 50.", False),
    ("gsm8k", "33", "The answer is roughly 33.3.", False),
    ("gsm8k", "18", "The answer is 18. Wait, that's wrong.", False),
    ("gsm8k", "16", "The answer is 18. Wait, he also ate 2, so the answer is 16.", True),
    ("svamp", "5.0", "The answer is 5 or maybe 6 apples.", False),
    ("gsm8k", "27", "It cannot be 27.", False),
    ("gsm8k", "70", "#### 70\n\nThat is not correct, I forgot the tax.", False),
    ("gsm8k", "100", "The answer is less than 100.", False),
    ("gsm8k", "48", "The answer isn’t 48.", False),
]

NO_NUMBER: list[Case] = [
    ("gsm8k", "7", "There are seven apples left.", False),
    ("gsm8k", "15", "```python\nx = 5\nprint(x * 3)\n```", False),
    ("gsm8k", "0", "I'm sorry, I can't solve this.", False),
    ("gsm8k", "0", "", False),
    ("svamp", "0.0", ", . - $ %", False),
    ("gsm8k", "2", "The robot is called R2D2.", False),
    ("gsm8k", "1", "Let $x_1$ be the number of hens.", False),
    ("gsm8k", "14", "Solving the system yields $x_2 = 14$.", True),
]

SCRIPTS_AND_TOKENS: list[Case] = [
    ("gsm8k", "42", "答案是 42。", True),
    ("gsm8k", "58", "Answer: ５８", True),
    ("gsm8k", "63", "الإجابة هي ٦٣", True),
    ("gsm8k", "91", "उत्तर: ९१", True),
    ("gsm8k", "25", "🎉 The answer is 25 🎉", True),
    ("gsm8k", "19", "The answer is 19.<|im_end|>", True),
    ("gsm8k", "12", "<think>\nMaybe it is 12.\n</think>\nThe answer is 14.", False),
    ("gsm8k", "2", "The answer is 64.\n\nI can help with the other 2 problems, too!", False),
    ("gsm8k", "10", "Weng earned $10. Hope that helps! 😊", True),
    ("svamp", "55.0", "Total = 55 \u200b", True),
    ("gsm8k", "1200", "答えは１,２００円です。", True),
]

CASES: dict[str, list[Case]] = {
    "marker": MARKER,
    "box and declared": BOX_AND_DECLARED,
    "thousands separators": SEPARATORS,
    "decimals and fractions": FRACTIONS,
    "money and percent": MONEY_AND_PERCENT,
    "signs, ranges, dates": SIGN_RANGE_DATE,
    "steps and ordinals": STEPS_AND_ORDINALS,
    "units": UNITS,
    "calculator annotations": CALCULATOR,
    "hedges and withdrawals": HEDGES,
    "no number": NO_NUMBER,
    "scripts and tokens": SCRIPTS_AND_TOKENS,
}
