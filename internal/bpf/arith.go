package bpf

import "slices"

// expr is a number that is calculated from a frame, of 32 bits without a sign:
// all calculation wraps around.
type expr interface{}

type (
	numExpr uint32
	// lenExpr is the length of the frame.
	lenExpr struct{}
	// loadExpr is an octet, or two or four in network order.
	loadExpr struct {
		proto string
		index expr
		size  int
		at    *token
	}
	negExpr struct{ a expr }
	binExpr struct {
		op   string
		a, b expr
		// words of scratch memory that it needs.
		words int
	}
)

// words is how many words of scratch memory a number needs until it is known.
func words(e expr) int {
	switch e := e.(type) {
	case binExpr:
		return e.words
	case negExpr:
		return words(e.a)
	case loadExpr:
		return words(e.index)
	}
	return 0
}

// strength tells how strong an operator binds, as in C.
var strength = map[string]int{
	"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
}

var comparisons = []string{"=", "!=", "<", "<=", ">", ">="}

func compares(t *token) bool { return t.kind == operator && slices.Contains(comparisons, t.text) }

// arithmetic reports whether a comparison of numbers comes next.
func (p *parser) arithmetic() bool {
	t, next := p.peek(), p.peekAt(1)
	switch {
	case t.is("-"), t.is("len"), t.is("length"):
		return true
	case t.kind == word:
		_, ok := protocols[t.text]
		return ok && next.is("[")
	case t.kind == number:
		return compares(next) || next.kind == operator && strength[next.text] > 0
	case !t.is("("):
		return false
	}
	// A parenthesis is around numbers or around conditions. What is read here
	// is read again.
	start, depth := p.next, p.depth
	_, err := p.calculation(0)
	is := err == nil && compares(p.peek())
	p.next, p.depth = start, depth
	return is
}

// relation reads a comparison of two numbers.
func (p *parser) relation() (node, error) {
	first := p.peek()
	p.qual = nil
	a, err := p.calculation(0)
	if err != nil {
		return nil, err
	}
	op := p.peek()
	if !compares(op) {
		return nil, p.fail(op, "expected a comparison (= != < <= > >=), not %s", op.describe())
	}
	p.take()
	b, err := p.calculation(0)
	if err != nil {
		return nil, err
	}
	return p.leaf(first, relation{op: op.text, a: a, b: b}), nil
}

// calculation reads operands with operators between them that bind stronger
// than a limit.
func (p *parser) calculation(limit int) (expr, error) {
	a, err := p.number()
	if err != nil {
		return nil, err
	}
	for {
		op := p.peek()
		if op.kind != operator || strength[op.text] <= limit {
			return a, nil
		}
		p.take()
		b, err := p.calculation(strength[op.text])
		if err != nil {
			return nil, err
		}
		if a, err = p.combine(op, a, b); err != nil {
			return nil, err
		}
	}
}

// number reads an operand.
func (p *parser) number() (expr, error) {
	t := p.peek()
	switch {
	case t.kind == number:
		p.take()
		return numExpr(t.val), nil
	case t.is("len"), t.is("length"):
		p.take()
		return lenExpr{}, nil
	case t.is("-"):
		p.take()
		if err := p.nest(t); err != nil {
			return nil, err
		}
		defer func() { p.depth-- }()
		a, err := p.number()
		if n, ok := a.(numExpr); ok {
			return -n, err
		}
		return negExpr{a}, err
	case t.is("("):
		p.take()
		if err := p.nest(t); err != nil {
			return nil, err
		}
		defer func() { p.depth-- }()
		a, err := p.calculation(0)
		if err != nil {
			return nil, err
		}
		if !p.accept(")") {
			return nil, p.fail(p.peek(), "expected ) or an operator, not %s", p.peek().describe())
		}
		return a, nil
	case t.kind == word && p.peekAt(1).is("["):
		return p.octets()
	}
	return nil, p.expected(t, "a number, len, or octets such as tcp[13] or ip[2:2]")
}

// octets reads tcp[13] and the like.
func (p *parser) octets() (expr, error) {
	t := p.take()
	proto, ok := protocols[t.text]
	switch {
	case !ok:
		return nil, p.expected(t, "a protocol in front of [")
	case t.text == "ah", t.text == "esp":
		return nil, p.fail(t, "the octets of %s are not found: its header has no fixed place", t.text)
	case proto.layer == onlyIPv6 && t.text != "icmp6":
		return nil, p.fail(t, "the octets of %s are not found", t.text)
	}
	open := p.take()
	if err := p.nest(open); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	index, err := p.calculation(0)
	if err != nil {
		return nil, err
	}
	if n, ok := index.(numExpr); ok && n > maxIndex {
		return nil, p.fail(&p.tokens[p.next-1], "no frame has an octet %d", n)
	}
	l := loadExpr{proto: t.text, index: index, size: 1, at: t}
	if p.accept(":") {
		s := p.take()
		if s.kind != number || s.val != 1 && s.val != 2 && s.val != 4 {
			return nil, p.fail(s, "1, 2 or 4 octets can be compared at once, not %s", s.describe())
		}
		l.size = int(s.val)
	}
	if t := p.peek(); !p.accept("]") {
		return nil, p.fail(t, "expected ] or : behind the number of the octet, not %s", t.describe())
	}
	return l, nil
}

// maxIndex is the last octet that may be asked for by number: that many octets
// of a frame are captured at most.
const maxIndex = 1 << 20

// combine makes an operation, or its result if it is known.
func (p *parser) combine(op *token, a, b expr) (expr, error) {
	right, known := b.(numExpr)
	if known {
		switch {
		case right == 0 && op.is("/"), right == 0 && op.is("%"):
			return nil, p.fail(op, "division by zero")
		case right > 31 && (op.is("<<") || op.is(">>")):
			return nil, p.fail(op, "a number of 32 bits is shifted by 31 bits at most, not by %d", right)
		}
		if left, ok := a.(numExpr); ok {
			return calculate(op.text, left, right), nil
		}
	}
	need := words(a)
	if !known { // the side that needs more comes first, the other beside its result
		need = max(need, words(b), min(need, words(b))+1)
	}
	return binExpr{op.text, a, b, need}, nil
}

func calculate(op string, a, b numExpr) numExpr {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "%":
		return a % b
	case "&":
		return a & b
	case "|":
		return a | b
	case "^":
		return a ^ b
	case "<<":
		return a << b
	default: // ">>"
		return a >> b
	}
}
