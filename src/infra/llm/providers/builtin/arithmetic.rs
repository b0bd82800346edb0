//! Arithmetic in a question: finds the expression among the words, evaluates it and records each step as LaTeX.

/// An evaluated expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SolvedSum {
    /// The whole expression as LaTeX.
    pub(super) expression: String,
    /// Steps as LaTeX, one per line; the last one has the result.
    pub(super) steps: Vec<String>,
    /// The result.
    pub(super) value: f64,
}

/// Maximum number of character runs tried as expressions, the longest first.
const MAX_CANDIDATES: usize = 8;

/// Maximum length of an expression in bytes. Each nesting level takes one, so this bounds the parser's stack too.
const MAX_EXPRESSION_BYTES: usize = 200;

/// Evaluates the longest expression of a text; `None` if there is none. `last` is the value of “it” and “that”.
pub(super) fn solve(text: &str, last: Option<f64>) -> Option<SolvedSum> {
    let symbols = as_symbols(text, last);
    let mut candidates: Vec<&str> = symbols
        .split(|c: char| !(c.is_ascii_digit() || "+-*/^().√%, ".contains(c)))
        .map(|run| run.trim_matches(|c: char| c == ' ' || c == ',' || c == '.'))
        .filter(|run| run.len() <= MAX_EXPRESSION_BYTES && run.contains(|c: char| c.is_ascii_digit()))
        .collect();
    candidates.sort_by_key(|run| std::cmp::Reverse(run.len()));
    candidates.into_iter().take(MAX_CANDIDATES).find_map(solve_expression)
}

fn solve_expression(text: &str) -> Option<SolvedSum> {
    let plain: Vec<char> = text.chars().filter(|c| *c != ' ' && *c != ',').collect();
    if has_numbers_side_by_side(text) {
        return None;
    }
    let mut parser = Parser { chars: &plain, position: 0 };
    let expression = parser.sum()?;
    if parser.position < plain.len() || matches!(expression, Expression::Number(_)) {
        return None;
    }
    let mut steps = Vec::new();
    let value = expression.evaluate(&mut steps)?;
    Some(SolvedSum { expression: expression.latex(), steps, value })
}

/// Detects adjacent numbers: `12 apples 5` leaves `12  5`, which is no number.
fn has_numbers_side_by_side(text: &str) -> bool {
    let mut previous = ' ';
    let mut blank = false;
    for c in text.chars() {
        if c == ' ' {
            blank = true;
            continue;
        }
        if blank && c.is_ascii_digit() && previous.is_ascii_digit() {
            return true;
        }
        (previous, blank) = (c, false);
    }
    false
}

/// Words and signs of two languages and their parser symbols. Longer ones precede those that they contain.
const SYMBOLS: [(&str, &str); 41] = [
    (" multiplied by ", "*"),
    (" divided by ", "/"),
    (" to the power of ", "^"),
    ("square root of ", "√"),
    ("sqrt", "√"),
    (" percent of ", "%*"),
    ("% of ", "%*"),
    (" squared", "^2"),
    (" cubed", "^3"),
    (" plus ", "+"),
    (" minus ", "-"),
    (" times ", "*"),
    (" x ", "*"),
    (" over ", "/"),
    ("**", "^"),
    ("加上", "+"),
    ("减去", "-"),
    ("乘以", "*"),
    ("除以", "/"),
    ("的平方", "^2"),
    ("的立方", "^3"),
    ("根号", "√"),
    ("加", "+"),
    ("减", "-"),
    ("乘", "*"),
    ("×", "*"),
    ("·", "*"),
    ("÷", "/"),
    ("−", "-"),
    ("–", "-"),
    ("（", "("),
    ("）", ")"),
    ("，", ","),
    ("²", "^2"),
    ("³", "^3"),
    ("\\times", "*"),
    ("\\cdot", "*"),
    ("\\div", "/"),
    ("{", "("),
    ("}", ")"),
    ("$", ""),
];

fn as_symbols(text: &str, last: Option<f64>) -> String {
    let mut symbols = format!(" {} ", text.to_lowercase());
    if let Some(last) = last {
        // Ten decimals preserve the last result well enough for one more step.
        let number = format!(" ({}) ", plain_number(last));
        for word in [" it ", " that ", " the result ", " this "] {
            symbols = symbols.replace(word, &number);
        }
        for word in ["结果", "它"] {
            symbols = symbols.replace(word, &number);
        }
    }
    for (word, symbol) in SYMBOLS {
        symbols = symbols.replace(word, symbol);
    }
    symbols
}

#[derive(Debug, Clone)]
enum Expression {
    Number(f64),
    Negative(Box<Expression>),
    Root(Box<Expression>),
    Percent(Box<Expression>),
    Binary(Box<Expression>, char, Box<Expression>),
}

struct Parser<'a> {
    chars: &'a [char],
    position: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.position).copied()
    }

    fn take(&mut self, wanted: &str) -> Option<char> {
        let found = self.peek().filter(|c| wanted.contains(*c))?;
        self.position += 1;
        Some(found)
    }

    fn sum(&mut self) -> Option<Expression> {
        let mut left = self.product()?;
        while let Some(sign) = self.take("+-") {
            left = Expression::Binary(Box::new(left), sign, Box::new(self.product()?));
        }
        Some(left)
    }

    fn product(&mut self) -> Option<Expression> {
        let mut left = self.signed()?;
        while let Some(sign) = self.take("*/") {
            left = Expression::Binary(Box::new(left), sign, Box::new(self.signed()?));
        }
        Some(left)
    }

    /// A sign binds less tightly than a power: -2^2 is -4.
    fn signed(&mut self) -> Option<Expression> {
        if self.take("-").is_some() { Some(Expression::Negative(Box::new(self.power()?))) } else { self.power() }
    }

    fn power(&mut self) -> Option<Expression> {
        let base = self.atom()?;
        if self.take("^").is_none() {
            return Some(base);
        }
        Some(Expression::Binary(Box::new(base), '^', Box::new(self.signed()?)))
    }

    fn atom(&mut self) -> Option<Expression> {
        let atom = if self.take("√").is_some() {
            Expression::Root(Box::new(self.atom()?))
        } else if self.take("(").is_some() {
            let inner = self.sum()?;
            self.take(")")?;
            inner
        } else {
            Expression::Number(self.number()?)
        };
        Some(if self.take("%").is_some() { Expression::Percent(Box::new(atom)) } else { atom })
    }

    fn number(&mut self) -> Option<f64> {
        let start = self.position;
        while self.take("0123456789.").is_some() {}
        self.chars[start..self.position].iter().collect::<String>().parse().ok()
    }
}

impl Expression {
    /// Evaluates the expression and appends each step; `None` if the value is not finite.
    fn evaluate(&self, steps: &mut Vec<String>) -> Option<f64> {
        let (value, step) = match self {
            Expression::Number(number) => (*number, None),
            Expression::Negative(inner) => (-inner.evaluate(steps)?, None),
            Expression::Root(inner) => {
                let inner = inner.evaluate(steps)?;
                (inner.sqrt(), Some(format!("\\sqrt{{{}}}", number(inner))))
            }
            Expression::Percent(inner) => {
                let inner = inner.evaluate(steps)?;
                (inner / 100.0, Some(format!("{}\\% = \\frac{{{}}}{{100}}", number(inner), number(inner))))
            }
            Expression::Binary(left, sign, right) => {
                let (left, right) = (left.evaluate(steps)?, right.evaluate(steps)?);
                (apply(left, *sign, right), Some(binary_latex(&number(left), *sign, &in_brackets(right))))
            }
        };
        if !value.is_finite() {
            return None;
        }
        steps.extend(step.map(|step| format!("{step} {}", equals(value))));
        Some(value)
    }

    fn latex(&self) -> String {
        match self {
            Expression::Number(value) => number(*value),
            Expression::Negative(inner) => format!("-{}", inner.latex()),
            Expression::Root(inner) => format!("\\sqrt{{{}}}", inner.latex()),
            Expression::Percent(inner) => format!("{}\\%", inner.latex()),
            Expression::Binary(left, sign, right) => binary_latex(
                &left.latex_within(*sign, Operand::Left),
                *sign,
                &right.latex_within(*sign, Operand::Right),
            ),
        }
    }

    /// Formats as LaTeX, with brackets if operator precedence requires them.
    fn latex_within(&self, outer: char, operand: Operand) -> String {
        let Expression::Binary(_, inner, _) = self else { return self.latex() };
        let rank = |sign| match sign {
            '+' | '-' => 1,
            '*' | '/' => 2,
            _ => 3,
        };
        let on_the_right = operand == Operand::Right;
        let fraction = outer == '/' || (outer == '^' && on_the_right);
        let same = rank(*inner) == rank(outer) && (on_the_right == (outer != '^')) && outer != '+';
        if !fraction && (rank(*inner) < rank(outer) || same) { format!("({})", self.latex()) } else { self.latex() }
    }
}

/// Position of an operand in a binary expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Left,
    Right,
}

fn apply(left: f64, sign: char, right: f64) -> f64 {
    match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' => left / right,
        _ => left.powf(right),
    }
}

fn binary_latex(left: &str, sign: char, right: &str) -> String {
    match sign {
        '*' => format!("{left} \\times {right}"),
        '/' => format!("\\frac{{{left}}}{{{right}}}"),
        '^' => format!("{left}^{{{right}}}"),
        sign => format!("{left} {sign} {right}"),
    }
}

fn in_brackets(value: f64) -> String {
    if value < 0.0 { format!("({})", number(value)) } else { number(value) }
}

/// Formats `= 4` or, if decimals were cut, `\approx 0.3333333333`.
pub(super) fn equals(value: f64) -> String {
    let sign = if is_exact(value) { "=" } else { "\\approx" };
    format!("{sign} {}", number(value))
}

/// Whether the formatted number is exact.
pub(super) fn is_exact(value: f64) -> bool {
    value.abs() < 9e15
        && plain_number(value).parse::<f64>().is_ok_and(|read| (read - value).abs() <= f64::EPSILON * value.abs())
}

/// Formats a number with up to ten decimals, or powers of ten if it is long.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e15).contains(&size) {
        let text = format!("{value:.6e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{} \\times 10^{{{exponent}}}", trim_zeros(digits));
    }
    plain_number(value)
}

fn plain_number(value: f64) -> String {
    let text = format!("{value:.10}");
    let text = trim_zeros(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(solve(text, Some(8.0)).map(|s| number(s.value)).as_deref(), expected, "{text}");
    }

    #[test]
    fn expressions_are_found_among_words() {
        check("What is 12 * 3 + 4?", Some("40"));
        check("what's 2 plus 3 times 4", Some("14"));
        check("Compute (1+2)×(3+4) please.", Some("21"));
        check("15% of 80", Some("12"));
        check("What is the square root of 144?", Some("12"));
        check("1,250,000 / 4", Some("312500"));
        check("3 x 4", Some("12"));
        check("5 squared minus 1", Some("24"));
        check("请问3加5乘以2等于多少", Some("13"));
        check("100除以8", Some("12.5"));
        check("计算（7-2）×3", Some("15"));
        check("$2^{10}$", Some("1024"));
        check("2^10", Some("1024"));
        check("2^3^2", Some("512"));
        check("-2^2 + 1", Some("-3"));
    }

    #[test]
    fn it_stands_for_the_last_result() {
        check("Now multiply: it times 3", Some("24"));
        check("结果加2", Some("10"));
    }

    #[test]
    fn text_without_an_expression_is_left_alone() {
        for text in
            ["", "Hello", "I have 12 apples and 5 pears", "Chapter 3.", "1 2 3", "+", "(((", "1/0", "√(0-1)", "7"]
        {
            check(text, None);
        }
        check("5 12 + 3", None);
    }

    #[test]
    fn deep_nesting_is_read_up_to_the_bound_and_no_further() {
        let nested = |depth| format!("1+{}2{}", "(".repeat(depth), ")".repeat(depth));
        check(&nested(98), Some("3"));
        for deep in [nested(99), "(".repeat(199), "√".repeat(9_000), format!("1{}", "^1".repeat(9_000))] {
            check(&deep, None);
        }
    }

    #[test]
    fn steps_are_latex_and_lead_to_the_result() {
        let solution = solve("(1 + 2) * 3 / 4", None).unwrap();
        assert_eq!(solution.expression, "\\frac{(1 + 2) \\times 3}{4}");
        assert_eq!(solution.steps, ["1 + 2 = 3", "3 \\times 3 = 9", "\\frac{9}{4} = 2.25"]);
        assert_eq!(solve("8-(3-2)", None).unwrap().expression, "8 - (3 - 2)");
        assert_eq!(solve("(1+2)^2", None).unwrap().expression, "(1 + 2)^{2}");
    }

    #[test]
    fn what_is_cut_is_said_to_be_near() {
        assert_eq!(equals(1.0 / 3.0), "\\approx 0.3333333333");
        assert_eq!(equals(0.1 + 0.2), "= 0.3");
        assert_eq!(number(1.5e20), "1.5 \\times 10^{20}");
    }
}
