r"""Signs and commands of answers: what is spacing, what is written in several ways, what is a name."""

from promptdp.scoring.vocabulary import vocabulary

SIGNS = {
    "−": "-", "–": "-", "‑": "-", "⁻": "^-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ",
    "÷": "/", "⁄": "/",
    "π": r"\pi ", "√": r"\sqrt ", "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "⩽": r"\le ", "⩾": r"\ge ",
    "≠": r"\ne ", "≈": r"\approx ", "≡": r"\equiv ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ",
    "∉": r"\notin ", "⊂": r"\subset ", "⊆": r"\subseteq ", "∅": r"\emptyset ", "∠": r"\angle ",
    "△": r"\triangle ", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}",
    "ℂ": r"\mathbb{C}",
    "±": r"\pm ", "∓": r"\mp ", "°": r"^\circ ", "º": r"^\circ ", "²": "^2", "³": "^3", "¹": "^1",
    "⁰": "^0", "⁴": "^4", "⁵": "^5", "⁶": "^6", "⁷": "^7", "⁸": "^8", "⁹": "^9", "½": r"\frac12 ",
    "¼": r"\frac14 ", "¾": r"\frac34 ", "⅓": r"\frac13 ", "⅔": r"\frac23 ", "θ": r"\theta ",
    "α": r"\alpha ", "β": r"\beta ", "…": r"\ldots ", "→": r"\to ", "⇒": r"\implies ", "’": "'", "′": "'",
    "\u00a0": " ", "\u202f": " ", "\u2009": " ", "，": ",", "（": "(", "）": ")", "：": ":", "∶": ":",
    "£": r"\pounds ", "€": r"\euro ", "¥": r"\yen ", "¢": r"\cent ",
    "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ",
}  # fmt: skip
"""Signs outside ASCII, in TeX."""
IGNORED = frozenset('$~`"“”')

OPERATORS = {">=": r"\ge", "<=": r"\le", "==": "=", "=>": r"\implies", "->": r"\to", "**": "^"}
"""Operators that keyboards write with two signs."""

LAYOUT = vocabulary(
    r"\left \right \middle \displaystyle \textstyle \scriptstyle \scriptscriptstyle \limits \nolimits "
    r"\quad \qquad \enspace \thinspace \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \! "
    r"\Biggl \Biggr \, \; \: \> \( \) \[ \] \boxed \fbox \mathit \mathcal \mathsf \underline \mathop "
    r"\mathrel \mathbin \mathord \ensuremath \rm \bf \it \hfill \noindent \tiny \scriptsize "
    r"\footnotesize \small \normalsize \large \Large \LARGE \huge \Huge \mathstrut \strut \null \relax "
    r"\hline \nonumber \notag \allowbreak \checkmark"
) | {"\\ "}
"""Commands that say how an answer looks."""
HIDING = vocabulary(r"\phantom \hphantom \vphantom \hspace \vspace \color \textcolor \tag \label")
"""Commands whose first argument is not shown."""
TEXTUAL = vocabulary(r"\text \mbox \textbf \textrm \textit \textnormal \textsf \texttt \hbox \emph")
UPRIGHT = vocabulary(r"\mathrm \operatorname")
BLACKBOARD = vocabulary(r"\mathbb \Bbb")
DISPLAYS = vocabulary("align aligned alignat equation gather gathered split displaymath math")
SAME = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom",
    r"\tbinom": r"\binom", r"\leq": r"\le", r"\leqslant": r"\le", r"\leqq": r"\le", r"\geq": r"\ge",
    r"\geqslant": r"\ge", r"\geqq": r"\ge", r"\lt": "<", r"\gt": ">", r"\neq": r"\ne", r"\div": "/",
    r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lbrack": "[", r"\rbrack": "]", r"\vert": "|", r"\lvert": "|",
    r"\rvert": "|", r"\mid": "|", r"\dots": r"\ldots", r"\cdots": r"\ldots", r"\wedge": r"\land",
    r"\vee": r"\lor", r"\lnot": r"\neg", r"\backslash": r"\setminus", r"\varnothing": r"\emptyset",
    r"\simeq": r"\approx", r"\doteq": r"\approx", r"\colon": ":", r"\lparen": "(", r"\rparen": ")",
    r"\tg": r"\tan", r"\ctg": r"\cot", r"\lg": r"\log", r"\Longrightarrow": r"\implies",
    r"\Rightarrow": r"\implies", r"\iff": r"\implies", r"\rightarrow": r"\to", r"\longrightarrow": r"\to",
    r"\langle": "(", r"\rangle": ")", r"\ast": "*", r"\dollar": r"\$", r"\bigcup": r"\cup",
    r"\bigcap": r"\cap", r"\boldsymbol": r"\mathbf", r"\bm": r"\mathbf", r"\bar": r"\overline",
    r"\measuredangle": r"\angle", r"\R": r"\mathbb{R}", r"\Z": r"\mathbb{Z}", r"\N": r"\mathbb{N}",
    r"\Q": r"\mathbb{Q}", r"\cr": r"\\",
    r"\textcent": r"\cent", r"\textdegree": r"\degree", r"\mod": r"\bmod",
}  # fmt: skip
"""Commands written in several ways."""

PLAIN_COMMANDS = vocabulary(
    "sin cos tan sec csc cot arcsin arccos arctan sinh cosh tanh log ln exp sqrt pi infty theta alpha beta "
    "lcm gcd"
)
"""Commands that are understood without their backslash."""
UPRIGHT_COMMANDS = PLAIN_COMMANDS | vocabulary("max det deg dim arg arcsinh arccosh arctanh cis")
"""Commands that are understood in upright letters."""
SPOKEN = {"mod": r"\bmod", "infinity": r"\infty", "inf": r"\infty"}
"""Words for commands."""

SYMBOLS = {
    rf"\{name}"
    for name in vocabulary(
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho "
        "varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi "
        "Psi Omega infty ell hbar partial nabla aleph Re Im prime ldots top bot clubsuit diamondsuit "
        "heartsuit spadesuit"
    )
}
"""Commands that are a name by themselves."""
