"""Cases for `csqa_strict` and `csqa_final`, labelled from the words of Appendices C-C and E-B alone.

A case is (rule, gold, response, right).
"""

Case = tuple[str, str, str, bool]

STRICT = "csqa_strict"
FINAL = "csqa_final"

DECORATION: list[Case] = [
    (STRICT, "C", "**Answer: C**", True),
    (STRICT, "C", "**Answer:** C", True),
    (STRICT, "C", "***Answer***: ***C***", True),
    (STRICT, "C", "Answer: `C`", True),
    (STRICT, "C", 'Answer: "C"', True),
    (STRICT, "C", "Answer: [C]", True),
    (STRICT, "C", "Answer: \\boxed{C}", True),
    (FINAL, "C", "Answer: $\\textbf{(C)}$", True),
    (FINAL, "C", "Answer: \\(\\mathrm{C}\\)", True),
    (STRICT, "C", "Answer： C", True),
    (STRICT, "C", "Answer:C", True),
    (STRICT, "C", "> Answer: C", True),
    (STRICT, "C", "### Answer: C", True),
    (STRICT, "C", "- **Answer**: **(C)** music store", True),
    (STRICT, "C", "Answer: C ✅", True),
    (STRICT, "C", "Answer: C<|eot_id|>", True),
    (FINAL, "C", "Answer:\n\n**C**", True),
    (FINAL, "C", "Final Answer: __C__", True),
    (FINAL, "C", "Answer: Option C", True),
    (STRICT, "B", "Answer: **C.** *music store*", False),
    (FINAL, "A", "Final Answer: *A*", True),
    (FINAL, "E", "The answer is __E__.", True),
]

SEVERAL_DECLARATIONS: list[Case] = [
    (STRICT, "D", "Answer: D\n\nTo summarise, it has to be wet.\n\n**Answer:** (D)", True),
    (STRICT, "E", "answer: e\n\nAnswer: E", True),
    (STRICT, "C", "**Answer: A**\n\nI misread the question.\n\n**Answer: C**", False),
    (STRICT, "B", "Answer: B\nAnswer: B\nAnswer: D", False),
    (STRICT, "A", "Answer: D. Actually, Answer: A", False),
    (FINAL, "A", "Answer: A\nSorry, that was hasty.\nAnswer: B", False),
    (
        FINAL,
        "C",
        "Answer: E\n\nHmm, let me think again. A fridge is in the kitchen.\n\nFinal answer: C",
        True,
    ),
    (FINAL, "E", "First I said Answer: E.\nBut shops close at night.\nSo the answer is C.", False),
    (FINAL, "A", "The answer is D. Actually, the answer is A.", True),
    (STRICT, "D", "Answer: D) ocean\n\nExplanation: fish swim there.\n\nFinal Answer: D", True),
]

TWO_LETTERS: list[Case] = [
    (STRICT, "A", "Answer: A and B", False),
    (FINAL, "B", "Answer: A & B", False),
    (STRICT, "A", "Answer: AB", False),
    (FINAL, "D", "Answer: A or possibly D", False),
    (FINAL, "C", "Answer: both A and C", False),
    (FINAL, "E", "The answer is either C or E.", False),
    (STRICT, "E", "Answer: A, B, C, D, E", False),
    (FINAL, "B", "Answer: B (or E)", False),
    (FINAL, "D", "The correct answers are B and D.", False),
    (FINAL, "C", "Answer: (B)(C)", False),
    (FINAL, "A", "Answer: D\nOn balance, the answer is A or B.", False),
    (STRICT, "C", "Answer: [C/D]", False),
    (FINAL, "D", "Answer: D (A is also fine)", False),
    (FINAL, "C", "The answer is C, or perhaps E.", False),
]

NEGATION: list[Case] = [
    (STRICT, "B", "Answer: not B", False),
    (FINAL, "C", "The answer is not C.", False),
    (FINAL, "A", "The answer isn't A, since nobody sleeps there.", False),
    (FINAL, "D", "The answer cannot be D.", False),
    (FINAL, "B", "Answer: anything except B", False),
    (FINAL, "D", "B is wrong; the answer is D.", True),
    (FINAL, "B", "(B) is incorrect. The correct answer is (D) pond.", False),
    (FINAL, "B", "The answer is (B), not (C).", True),
    (FINAL, "E", "The answer is (A) rather than (E).", False),
    (FINAL, "B", "The answer is not B but D.", False),
    (FINAL, "B", "A and C are wrong, so the answer is B.", True),
    (FINAL, "C", "B and C are out, so it must be something else.", False),
    (STRICT, "E", "A, B, C and D can be eliminated.\n\nAnswer: E", True),
    (FINAL, "E", "None of the choices A to D is a building, so the answer is E.", True),
    (STRICT, "C", "The cellar is not an answer anyone expects.\n\nAnswer: C", True),
]

WORDS: list[Case] = [
    (STRICT, "A", "Answer: a library", False),
    (FINAL, "A", "The answer is a bank.", False),
    (STRICT, "A", "Answer: a", True),
    (STRICT, "D", "Answer: Desk", False),
    (STRICT, "B", "Answer: Because it is cold, people wear coats.", False),
    (FINAL, "C", "Answer: Cannot be determined", False),
    (STRICT, "A", "Answer: All of the above", False),
    (FINAL, "E", "Answer: Either one works", False),
    (STRICT, "B", "Answer: B12", False),
    (FINAL, "A", "Answer: I am not able to choose among the options.", False),
    (FINAL, "A", "Answer: A lot of people would simply stay at home.", False),
    (FINAL, "D", "The answer is clear: D", True),
    (FINAL, "C", "The answer is clear.", False),
    (FINAL, "D", "The answer depends on the weather.", False),
    (STRICT, "A", "Antwort: C", False),
    (STRICT, "E", "Answer: e-mail", False),
    (FINAL, "A", "I would pick B — a safe choice.", False),
    (STRICT, "A", "Answer: a-frame house", False),
    (FINAL, "D", "The answer is obvious: (D).", True),
]

NO_LETTER: list[Case] = [
    (STRICT, "A", "Answer: X", False),
    (STRICT, "D", 'The format is "Answer: [letter]".\n\nAnswer: D', True),
    (FINAL, "B", "I will end with 'Answer: X'.\n\nAnswer: B", True),
    (FINAL, "E", "Answer: <letter>", False),
    (STRICT, "B", "Answer: G) swamp", False),
    (STRICT, "B", "Answer: 2", False),
    (FINAL, "C", "(C) sounds plausible at first.\n\nAnswer:", False),
    (FINAL, "A", "The answer is (", False),
    (STRICT, "E", "A) bank\nB) river\nC) shop\nD) desk\nE) sea", False),
    (FINAL, "E", "(A) bank (B) river (C) shop (D) desk (E) sea", False),
    (FINAL, "C", "   \n\n", False),
    (FINAL, "D", "Answer: $LETTER", False),
    (STRICT, "C", "Answer: ???\n\nA, B, C, D or E", False),
]

SENTENCES: list[Case] = [
    (FINAL, "C", "(A) is too far, (B) is closed, so my answer is (C).", True),
    (FINAL, "D", "Option D is correct.", True),
    (FINAL, "D", "D is the correct answer.", True),
    (FINAL, "D", "The correct option is (D) ocean.", True),
    (FINAL, "B", "So the best choice is B) river.", True),
    (FINAL, "E", "Therefore, I choose E.", True),
    (FINAL, "A", "I'll go with option A.", True),
    (FINAL, "B", "Correct answer: (B)", True),
    (FINAL, "D", "The most suitable answer is **D**.", True),
    (FINAL, "B", "$\\boxed{B}$", True),
    (FINAL, "B", "So we get \\boxed{\\text{B) river}}", True),
    (FINAL, "C", "<answer>C</answer>", True),
    (FINAL, "C", "After comparing A with C, the answer is A.", False),
    (FINAL, "A", "A hammer is a tool. The right answer is E, hammer.", False),
    (FINAL, "B", "**Final answer**\n\nB) river", True),
    (FINAL, "D", "<final_answer>D</final_answer>", True),
]

DISCUSSION_AFTER: list[Case] = [
    (STRICT, "C", "Answer: C. Option B is a common confusion.", True),
    (STRICT, "B", "Answer: B\n\nExplanation: A and C are incorrect since both are indoors.", True),
    (FINAL, "B", "Answer: B\n\nWhy not A? Because it has no water.", True),
    (FINAL, "A", "Answer: E\n\nA would be the runner-up.", False),
    (FINAL, "D", "The answer is C. Choice D describes where it is made.", False),
    (FINAL, "A", "\\boxed{A}\n\nOption C is only partly right.", True),
    (FINAL, "E", "**Answer: E** (theatre)\n\nLet me know if you want me to explain the options A-D!", True),
    (STRICT, "D", "Answer: A\n\nD is a typical distractor.", False),
]

WITHDRAWN_OR_OPEN: list[Case] = [
    (FINAL, "A", "Answer: A\n\nWait, actually that's not right.", False),
    (FINAL, "C", "The answer is C. Hmm, no, that can't be.", False),
    (FINAL, "B", "I first thought the answer is B, but the answer is E.", False),
    (FINAL, "C", "Could the answer be A? No. The answer is C.", True),
    (FINAL, "B", "Is the answer B?", False),
    (FINAL, "D", "If the answer were D, everyone would be wet.", False),
    (FINAL, "B", "The answer might be B.", False),
    (FINAL, "D", "I'm torn between A and D.", False),
    (FINAL, "E", "Possible answers: A, B, C, D, E", False),
    (FINAL, "D", "Answer: D\nNever mind, that is the wrong one.", False),
    (FINAL, "E", "The answer is E. Scratch that.", False),
    (FINAL, "B", "Answer: B\nThat is right: rivers flow.", True),
]

LAYOUT: list[Case] = [
    (STRICT, "B", "| Option | Fits |\n|---|---|\n| A | no |\n| B | yes |\n\nAnswer: B", True),
    (FINAL, "B", "## Answer\n\nB", True),
    (FINAL, "D", "### Final Answer\n\n(D) ocean", True),
    (STRICT, "C", "A) bank\nB) river\nC) shop\n\nAnswer: C", True),
    (STRICT, "B", "Answer choices:\n(A) bank\n(B) river\n\nAnswer: B", True),
    (STRICT, "E", "1. **A**: too small\n2. **B**: too hot\n\n**Answer: E**\n", True),
    (FINAL, "A", "### Option A\n\nAn attic is dusty.\n\n### Answer\n\n**E**", False),
    (STRICT, "D", "Question: where do fish live?\nAnswer: **B**\nChoices: (C) desk (D) pond", False),
    (STRICT, "A", "\r\nAnswer: A\r\n\r\n", True),
]

CASES: dict[str, list[Case]] = {
    "decoration": DECORATION,
    "several declarations": SEVERAL_DECLARATIONS,
    "two letters": TWO_LETTERS,
    "negation": NEGATION,
    "words": WORDS,
    "no letter": NO_LETTER,
    "sentences": SENTENCES,
    "discussion after": DISCUSSION_AFTER,
    "withdrawn or open": WITHDRAWN_OR_OPEN,
    "layout": LAYOUT,
}
