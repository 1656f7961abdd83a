"""Cases for `math_robust` on responses without a box, labelled from the words of Appendix E-A alone.

A case is (rule, gold, response, right); the rule `math_robust capped` says that the token cap stopped it.
"""

Case = tuple[str, str, str, bool]

ROBUST = "math_robust"
CAPPED = "math_robust capped"

STATEMENT_AND_LATER_REMARK: list[Case] = [
    (ROBUST, "7", "The answer is 7. To double-check, 3 + 4 = 7 and 2 * 3 = 6, as required.", True),
    (
        ROBUST,
        "8",
        "The answer is 11.\n\nNote that its largest factor is 5, and that it has 8 of them.",
        False,
    ),
    (
        ROBUST,
        r"\frac{5}{12}",
        "**Answer:** $\\frac{5}{12}$\n\n*Explanation:* 12 outcomes, 5 favourable.",
        True,
    ),
    (ROBUST, "180", "Final answer: 45\n\n---\nAsk me about rotations by 90 or 180 degrees any time!", False),
    (ROBUST, "9", "Thus the final answer is 36.\n\nAs a sanity check, 36/4 = 9.", False),
    (ROBUST, "1", "The value of the expression is 1.\n\nThe answer is 1.\n\nHope this helps! 😊", True),
    (ROBUST, "4", "the answer is 13.\n\nStep 4: Verify. The digits 1 and 3 have the sum 4.", False),
    (ROBUST, "5", "The answer is 20.\n\nTherefore 20 is divisible by 4, and so 5 is a divisor.", False),
    (
        ROBUST,
        "16",
        "So the answer is 16.\nHence the figure is four times as large, i.e. 4 squares fit.",
        True,
    ),
    (ROBUST, "1024", "The answer is $2^{10}$ (one factor for each of the 10 elements).", True),
    (ROBUST, "10", "The answer is $2^{9}$ (there were 10 elements, less one).", False),
    (ROBUST, r"\sqrt{13}", "The answer is $\\sqrt{13}$. (Recall the distance formula from Lesson 4.)", True),
]

CORRECTION: list[Case] = [
    (ROBUST, "14", "The answer is 12.\n\nWait, the diagonals: 12 + 2 = 14.\n\nSo the answer is 14.", True),
    (ROBUST, "9", "At first I thought the answer is 9. Actually, I miscounted; the answer is 10.", False),
    (ROBUST, "5", "The answer is 6... wait, no, one case was counted twice. The correct answer is 5.", True),
    (ROBUST, "30", "The answer is 30. Scratch that.", False),
    (ROBUST, "25", "The answer is 25. Hmm, that is wrong, since 25 is not prime.", False),
    (
        ROBUST,
        "8",
        "So the answer is 8.\n\nOn second thought, this is incorrect because order matters.",
        False,
    ),
    (ROBUST, "4", "My previous answer of 3 was incorrect.\n\nCorrection: the answer is 4.", True),
    (ROBUST, "48", "I made an error above: the answer is not 48 but 24.", False),
    (
        ROBUST,
        r"\frac{1}{4}",
        "The answer is $\\frac12$. Oops, I forgot to halve it: it is $\\frac14$.\n\n"
        "**Final answer:** $\\frac14$",
        True,
    ),
    (
        ROBUST,
        r"\frac{1}{5}",
        "Answer: $\\frac15$\n\nHold on. That contradicts step 2, so I take it back.",
        False,
    ),
    (ROBUST, "45", "The answer is 45. Never mind, I used the wrong radius.", False),
    (
        ROBUST,
        "-2",
        "The final answer is $-2$.\n\nBut this cannot be right: the problem asks for a positive number.",
        False,
    ),
    (ROBUST, "64", "The answer is 64. This is correct, since no order matters.", True),
]

NEGATION: list[Case] = [
    (ROBUST, "10", "Therefore, $x$ cannot be 10.", False),
    (ROBUST, "11", "Hence 11 isn't the answer.", False),
    (ROBUST, "3", "Thus the number of solutions is never 3.", False),
    (ROBUST, "5", "Therefore $x \\neq 5$.", False),
    (ROBUST, "18", "It is therefore impossible for the sum to equal 18.", False),
    (ROBUST, "2, 3", "We conclude that neither 2 nor 3 is a root.", False),
    (ROBUST, "7", "The answer is anything but 7.", False),
    (ROBUST, "12", "The answer is 12, not 13.", True),
    (ROBUST, "16", "The answer is $15$ and not $16$.", False),
    (ROBUST, "4", "The number is not prime, so the answer is 4.", True),
    (ROBUST, "9", "Since $x$ is not zero, we may divide both sides by it.\nThis gives $x = 9$.", True),
    (ROBUST, "0", "The answer is 0, as no such integers exist.", True),
    (ROBUST, "40", "Therefore the value is less than 40.", False),
    (ROBUST, "6", "So the answer must be at least 6.", False),
    (ROBUST, "19", "The answer isn't 19; it's one less than that.", False),
    (ROBUST, "29", "There is no way that the result is 29.", False),
    (ROBUST, "13", "So 13 fails to be the answer.", False),
    (ROBUST, "\\frac{2}{3}", "Therefore the probability is not equal to $\\frac{2}{3}$.", False),
]

HEDGE: list[Case] = [
    (ROBUST, "5", "The answer might be 5.", False),
    (ROBUST, "8", "The answer is probably 8, but I'm not sure.", False),
    (ROBUST, "3", "The answer is either 3 or 4.", False),
    (ROBUST, "17", "Hmm, it could be 17.", False),
    (ROBUST, "9", "The answer is 6 or maybe 9.", False),
    (ROBUST, "2", "The answer is 2 or 3, depending on whether we count the endpoints.", False),
    (ROBUST, "21", "Without more information it can't be determined, though 21 seems possible.", False),
    (ROBUST, "5", "I keep going back and forth between 4 and 5.", False),
    (ROBUST, r"\pi", "The answer is approximately 3.14.", False),
    (ROBUST, r"\sqrt{50}", "So the distance is $d = \\sqrt{50} = 5\\sqrt{2} \\approx 7.07$.", True),
    (ROBUST, "6", "There may be several cases at first sight. After checking, the answer is 6.", True),
    (
        ROBUST,
        "33",
        "Perhaps the pattern is unclear, so here it is in full: 30 + 3 = 33.\nThe answer is 33.",
        True,
    ),
]

JOINED: list[Case] = [
    (ROBUST, "1, 3, 9", "So the possible values are 1, 3, and 9.", True),
    (ROBUST, "10", "Therefore, the divisors are 1, 2, 5 and 10.", False),
    (ROBUST, "-1, 0, 4", "Therefore the roots are $4$, $0$, and $-1$.", True),
    (ROBUST, "7", "Hence the answer is $3$ and $7$.", False),
    (ROBUST, "-3, 2", "The solutions are $x=2$ and $x=-3$.", True),
    (ROBUST, "6", "Thus, $y = 1$ or $y = 6$.", False),
    (ROBUST, "4, -2", "So $t = 4$ or $t = -2$.", True),
    (ROBUST, "2, 5, 8", "Therefore, the valid digits are 2 and 8.", False),
    (ROBUST, "(1,4)", "The answer is the pair (4, 1).", False),
    (ROBUST, "2,4,6", "The answer is $\\{6, 2, 4\\}$.", True),
    (ROBUST, "7", "The answers are:\n- 2\n- 7", False),
    (ROBUST, r"\sqrt{2}, -\sqrt{2}", "Thus the solutions are $x = \\sqrt{2}$ or $x = -\\sqrt{2}$.", True),
    (ROBUST, "8", "The final answer is 5, 6, or 8.", False),
]

CHAIN: list[Case] = [
    (ROBUST, "7", "Step 3: Solve.\n\n$3x = 21$\n\n$x = 7$", True),
    (ROBUST, "10", "Therefore $f(2) = 4 + 6 = 10$.", True),
    (ROBUST, "9", "Therefore $a + b = 5 + 9 = 14$.", False),
    (ROBUST, "24", "The area of the triangle is\n\\[\nA = \\frac{1}{2} \\cdot 6 \\cdot 8 = 24\n\\]", True),
    (ROBUST, "65", "Thus, $m\\angle ABC = 65^\\circ$.", True),
    (ROBUST, "115", "Thus, $m\\angle B = 180^\\circ - 115^\\circ = 65^\\circ$.", False),
    (ROBUST, r"\frac{3}{4}", "So $k=\\dfrac{3}{4}$, which is the required value.", True),
    (ROBUST, "12", "Hence $n = 12$ (since $n > 0$).", True),
    (ROBUST, "10", "Hence $p = 17$ because $p > 10$.", False),
    (ROBUST, "2x+3", "Therefore the line is y = 2x + 3", True),
    (ROBUST, "7", "\\begin{align*}\nx &= 3(4) - 5 \\\\\n&= 12 - 5 \\\\\n&= 7\n\\end{align*}", True),
    (ROBUST, "4", "So \\begin{aligned} S &= 1 + 2 + 3 + 4 \\\\ &= 10 \\end{aligned}", False),
    (ROBUST, "20", "Plugging in, 4 * 5 = 20, and then $V = 20 \\cdot 3 = 60$.", False),
]

CONDITION: list[Case] = [
    (ROBUST, "5", "Therefore, when $n = 2$ the sum is $5$.", True),
    (ROBUST, "3", "Thus with $k = 3$, the product equals $24$.", False),
    (ROBUST, "2", "So the remainder is 2 when $2^{10}$ is divided by 7.", True),
    (ROBUST, "9", "Hence the remainder is 5 upon division by 9.", False),
    (ROBUST, "4", "Thus, for $x = 4$, the value of the expression is 19.", False),
    (ROBUST, "0", "Therefore, at time $t = 6$ the height is $0$ feet.", True),
    (ROBUST, "15", "So there are 15 such triangles among the 20 possible ones.", True),
    (ROBUST, "25", "Hence 8 of the 25 students play both sports.", False),
    (ROBUST, "101", "Thus the smallest prime greater than 100 is 101.", True),
    (ROBUST, "50", "Thus the largest integer less than 50 with this property is 47.", False),
    (ROBUST, "40", "Thus 15 out of the 40 marbles are red.", False),
    (ROBUST, "7", "Hence, exactly 7 of them are odd.", True),
]

VALUE_FIRST: list[Case] = [
    (ROBUST, "42", "42 is the answer.", True),
    (ROBUST, "43", "42 is the answer; 43 is wrong.", False),
    (ROBUST, r"\frac{2}{9}", "Thus $\\frac{2}{9}$ is the probability.", True),
    (ROBUST, "6", "Therefore, 6 is the smallest positive integer with 4 divisors.", True),
    (ROBUST, "5", "Hence 16 is the least number having exactly 5 divisors.", False),
    (ROBUST, "-3", "Hence, -3 is the y-intercept.", True),
    (ROBUST, "4", "Thus $8$ is the number of edges, twice the 4 vertices.", False),
    (ROBUST, "12", "Thus 12 is not what we want.", False),
]

ASIDE: list[Case] = [
    (ROBUST, "60", "The answer is 60 (since 5!/2 = 60).", True),
    (ROBUST, "120", "The answer is 60 (we divide 120 by 2).", False),
    (ROBUST, "48", "So the area is 24 (half of 48).", False),
    (ROBUST, "13", "Therefore the perimeter is 30, because the sides are 5, 12 and 13.", False),
    (ROBUST, "7.5", "Therefore, the median is 7.5, which is halfway between 7 and 8.", True),
    (ROBUST, "6", "Thus the mode is 4, which appears 6 times.", False),
    (ROBUST, "9", "The final answer is 9 — the other root, -9, is extraneous.", True),
    (ROBUST, "-6", "Hence the length is 6, as we reject -6.", False),
    (ROBUST, "2", "Hence the sum is 27.\n\nThat was a fun problem in 2 parts!", False),
]

UNFINISHED: list[Case] = [
    (ROBUST, "7", "Is the answer 7?", False),
    (ROBUST, "24", "So what is the answer? Could it be 24?", False),
    (ROBUST, "12", "Suppose the answer is 12. Then the sum would be odd, a contradiction.", False),
    (ROBUST, "4", "Assume $x = 4$.", False),
    (ROBUST, "15", "If the answer were 15, the triangle would be isosceles.", False),
    (ROBUST, "8", "We have 8 cases.\n\nTherefore, the answer is", False),
    (ROBUST, "3", "So the total is 3 +", False),
    (ROBUST, "3", "Thus, $x = \\frac{3}{", False),
    (ROBUST, "9", "Let $m = 9$ be the number of rows. Now we need the number of columns, so", False),
    (ROBUST, "10", "We need to find the value of $x$ such that $x + 3 = 10$.", False),
    (ROBUST, "42", "First compute 6 × 7 = 42. Next, we will", False),
    (ROBUST, "4", "Let's try $n = 4$.", False),
    (
        ROBUST,
        "2",
        "Suppose $r = 5$ for contradiction. That fails, so the only choice left works.\nThe answer is 2.",
        True,
    ),
    (ROBUST, "90", "Would the final answer be 90?", False),
    (ROBUST, "11", "Imagine that the answer is 11.", False),
    (ROBUST, "56", "The area is 56.\n\nSo the final answer is:", False),
    (ROBUST, "6", "Hence the sum is 6 + 2 *", False),
    (ROBUST, "18", "Consider $k = 18$.", False),
]

CAP: list[Case] = [
    (CAPPED, "15", "Therefore, $a+b = 15$.\n\nLet me double check by", False),
    (CAPPED, "18", "Thus the sum is $\\boxed{18}$. Checking again, we", True),
    (CAPPED, "7", "**Final Answer**\n\n$7$", False),
    (CAPPED, "2", "Thus the answer is $\\boxed{2", False),
    (
        CAPPED,
        r"\frac{1}{8}",
        "\\[\\boxed{\\frac{1}{8}}\\]\n\nHence the answer is $\\frac{1}{8}$, which is",
        True,
    ),
    (CAPPED, "4", "Solving for x:\n\nx = 4", False),
    (CAPPED, r"\frac{7}{9}", "So the answer is $\\dfrac{7}{9}$.\n\nI hope this helps", False),
]

LAYOUT: list[Case] = [
    (ROBUST, "14", "## Answer\n\n**14**", True),
    (ROBUST, r"36\pi", "### Step 3: Conclusion\n\nThe volume is $36\\pi$ cubic inches.", True),
    (ROBUST, r"\frac{11}{20}", "**Final Answer:**\n\\[\n\\frac{11}{20}\n\\]", True),
    (ROBUST, r"\frac{-1+\sqrt{5}}{2}", "Therefore:\n\n\\[ x = \\frac{-1 + \\sqrt{5}}{2} \\]", True),
    (ROBUST, "5", "### Step 5: Final Answer\n\n$\\frac{2}{3}$", False),
    (ROBUST, "-12", "> **Answer:** `-12`", True),
    (ROBUST, "21", "| Quantity | Value |\n|---|---|\n| width | 3 |\n| area | 21 |\n\n**Answer: 21**", True),
    (ROBUST, "128", "Answer:\n\n```\n128\n```", True),
    (ROBUST, "73", "---\n\n✅ Final Answer: **73**", True),
    (ROBUST, "(2,-1)", "**Conclusion**\nThe two lines meet at $(2, -1)$.", True),
    (ROBUST, "9", "| n | f(n) |\n|---|---|\n| 1 | 4 |\n| 2 | 9 |", False),
    (ROBUST, "42", "```python\nprint(6*7)\n```", False),
    (ROBUST, "13", "The final answer is $\\mathbf{13}$.<|im_end|>", True),
]

WORDS: list[Case] = [
    (ROBUST, r"\text{odd}", "The answer is odd.", True),
    (ROBUST, r"\text{odd}", "Hence the function is neither even nor odd.", False),
    (ROBUST, r"\text{Tuesday}", "Therefore, the day is Tuesday.", True),
    (ROBUST, r"\text{Evelyn}", "So the answer is **Evelyn**.", True),
    (ROBUST, r"\text{Briana}", "So the winner is not *Briana*.", False),
    (ROBUST, r"\text{(C)}", "Answer: (C)", True),
    (ROBUST, r"\text{(A)}", "The answer is a square.", False),
    (ROBUST, r"\text{ellipse}", "Answer: Parabola", False),
    (ROBUST, r"\text{Wednesday}", "The answer is Tuesday or Wednesday.", False),
    (ROBUST, r"\text{yes}", "The answer is: Yes.", True),
    (ROBUST, r"\text{(B)}", "The answer is (B) or (D).", False),
]

UNITS: list[Case] = [
    (ROBUST, "12", "The answer is 12 square feet.", True),
    (ROBUST, "45", "Therefore, the speed is $45\\text{ mph}$.", True),
    (ROBUST, "36", "The area is $36$ cm$^2$.", True),
    (ROBUST, "3", "So the volume is $54$ m$^3$.", False),
    (ROBUST, r"28\%", "So the discount is 28%.", True),
    (ROBUST, r"\frac{7}{4}", "The answer is $1\\frac{3}{4}$ cups.", True),
    (ROBUST, "120", "The final answer is $120^{\\circ}$.", True),
    (ROBUST, "1011_2", "Thus $1011_2$ is the binary form.", True),
    (ROBUST, "1011_2", "The answer is $1011_3$.", False),
    (ROBUST, "4.50", "Answer: £4.50", True),
    (ROBUST, "75", "Therefore, the cost is 3 dollars and 75 cents.", False),
    (ROBUST, "30", "Hence the time is 2 hours and 30 minutes.", False),
    (ROBUST, r"\frac{5}{2}", "Therefore, it takes 2.5 hours.", True),
    (ROBUST, r"\frac{1}{6}", "The probability is 0.17.", False),
    (ROBUST, "1024", "The answer is 1{,}024.", True),
]

PLACES: list[Case] = [
    (ROBUST, "(3,-2)", "Therefore, the vertex is at $(3, -2)$.", True),
    (ROBUST, "5", "So the point is $(5, 0)$.", False),
    (ROBUST, r"[-3,\infty)", "Hence the domain is $\\left[-3, \\infty\\right)$.", True),
    (ROBUST, r"(4,\infty)", "Therefore $x > 4$.", True),
    (ROBUST, r"(4,\infty)", "Solving the inequality, we find $x < 4$.", False),
    (ROBUST, "(-2,5)", "The final answer is $-2 < x < 5$.", True),
    (ROBUST, "(-2,5)", "The final answer is $-2 \\le x \\le 5$.", False),
    (ROBUST, "[2,5)", "Answer: $(2, 5]$", False),
    (ROBUST, "6", "Thus $x$ lies in the interval $[0, 6]$.", False),
]

CUES: list[Case] = [
    (
        ROBUST,
        "21",
        "Each of the 7 people shakes hands with 6 others.\nThis means there are 21 handshakes.",
        True,
    ),
    (ROBUST, "-7", "Comparing coefficients, which gives $c = -7$.", True),
    (ROBUST, "64", "There are 4 choices each time. Consequently, the total is 64.", True),
    (ROBUST, r"\frac{1}{3}", "It follows that $r = \\frac{1}{3}$.", True),
    (ROBUST, "50", "We conclude that the maximum is 50.", True),
    (ROBUST, "8", "2x = 16 ∴ x = 8", True),
    (ROBUST, "6", "x + 4 = 10 => x = 6", True),
    (ROBUST, "8", "Therefore, the base is 6.\nTherefore, the height is 8.\nThus the area is 24.", False),
    (ROBUST, "27", "Hence the sum is 27.\n\nThat was a fun problem!", True),
    (ROBUST, "11", "Thus the total is 33.\n\n(A nice way to see this uses the factor 11.)", False),
    (ROBUST, "3", "5a = 15 → a = 3", True),
    (ROBUST, "\\frac{5}{6}", "$6z = 5 \\implies z = \\frac{5}{6}$", True),
]

LAST_LINE: list[Case] = [
    (ROBUST, "50", "12 × 4 = 48\n48 + 2 = 50", True),
    (ROBUST, "6", "The value is reached at n = 6.\nThat is all we know.", False),
    (ROBUST, r"\frac{7}{12}", "7/12", True),
    (ROBUST, r"\sqrt{3}", "$\\sqrt{3}$\n\n", True),
    (ROBUST, "4", "I used 4 steps to solve this.", False),
    (ROBUST, "5", "Reference: Theorem 5.", False),
    (ROBUST, "3", "Equation (3) is the one that we would have to solve.", False),
    (ROBUST, "96", "Area of the square: 100\nArea of the hole: 4\nRemaining area: 96", True),
    (ROBUST, "0", "\n \n", False),
    (ROBUST, "2", "This follows from Lemma 2.", False),
    (ROBUST, "12", "(Source: AMC 12)", False),
]

CONTRAST: list[Case] = [
    (ROBUST, "13", "Thus, instead of 12, we get 13.", True),
    (ROBUST, "20", "Instead of 20, the total is therefore one more.", False),
    (ROBUST, "10", "Therefore the answer is 9 rather than 10.", False),
    (ROBUST, "100", "Many people say the answer is 100, but this is a trap.", False),
    (ROBUST, "50", "A common mistake is to think the answer is 50.", False),
    (ROBUST, "36", "You may be tempted to answer 36.", False),
    (ROBUST, "30", "Although it may look like 36, the answer is 30.", True),
    (ROBUST, "22", "One might expect 20, but the answer is 22.", True),
    (ROBUST, "99", "It is often claimed that the answer is 99, which is false.", False),
]

CASES: dict[str, list[Case]] = {
    "statement and later remark": STATEMENT_AND_LATER_REMARK,
    "correction": CORRECTION,
    "negation": NEGATION,
    "hedge": HEDGE,
    "joined answers": JOINED,
    "assignment and chain": CHAIN,
    "condition": CONDITION,
    "value before the verb": VALUE_FIRST,
    "aside": ASIDE,
    "unfinished, asked or assumed": UNFINISHED,
    "token cap": CAP,
    "layout": LAYOUT,
    "words": WORDS,
    "units": UNITS,
    "coordinates and intervals": PLACES,
    "inferential cue": CUES,
    "last line": LAST_LINE,
    "contrast": CONTRAST,
}
