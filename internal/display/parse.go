package display

import (
	"strings"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// Limits of a filter: what is longer or deeper is no filter that somebody typed.
const (
	longest = 64 << 10
	deepest = 200
)

// parser is a Pratt parser: each operator has a power, and what stands between two
// belongs to the stronger one.
type parser struct {
	lexer
	tok   token
	find  func(string) *fields.Field
	deep  int
	names func() []string
}

// The powers.
const (
	powerOr = iota + 1
	powerXor
	powerAnd
	powerNot
	powerRelation
	powerBits
	powerSum
	powerProduct
	powerSign
)

// infixes has the operators that have two sides of the same power.
var infixes = map[string]struct {
	power int
	name  string
}{
	"or": {powerOr, "or"}, "||": {powerOr, "or"},
	"xor": {powerXor, "xor"}, "^^": {powerXor, "xor"},
	"and": {powerAnd, "and"}, "&&": {powerAnd, "and"},
	"&": {powerBits, "&"}, "bitwise_and": {powerBits, "&"}, "bitand": {powerBits, "&"},
	"+": {powerSum, "+"}, "-": {powerSum, "-"},
	"*": {powerProduct, "*"}, "/": {powerProduct, "/"}, "%": {powerProduct, "%"},
}

// relations has the comparisons by each of their names.
var relations = map[string]string{
	"==": "==", "eq": "==", "any_eq": "==",
	"!=": "!=", "ne": "!=", "all_ne": "!=",
	"===": "===", "all_eq": "===",
	"!==": "!==", "any_ne": "!==", "~=": "!==",
	">": ">", "gt": ">", ">=": ">=", "ge": ">=", "<": "<", "lt": "<", "<=": "<=", "le": "<=",
	"contains": "contains", "matches": "matches", "~": "matches",
}

// keywords are the words that are no fields or values.
var keywords = map[string]bool{
	"or": true, "xor": true, "and": true, "not": true, "in": true, "any": true, "all": true, "bitwise_and": true, "bitand": true,
	"eq": true, "any_eq": true, "ne": true, "all_ne": true, "all_eq": true, "any_ne": true,
	"gt": true, "ge": true, "lt": true, "le": true, "contains": true, "matches": true,
}

// parse makes the tree of a filter; nil if there is nothing in it.
func parse(text string, find func(string) *fields.Field, names func() []string) (expr, *Error) {
	if len(text) > longest {
		return nil, &Error{Text: text[:shown], Column: 1, Message: "the filter is longer than 65536 octets"}
	}
	p := &parser{find: find, names: names}
	p.lexer = lexer{text: text, field: func(s string) bool { return find(s) != nil }}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenEnd {
		return nil, nil
	}
	x, err := p.test(powerOr)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, p.unexpected()
	}
	return x, nil
}

func (p *parser) advance() (err *Error) {
	p.tok, err = p.next()
	return err
}

// expect takes a sign.
func (p *parser) expect(sign, after string) *Error {
	if p.tok.kind != tokenSign || p.tok.text != sign {
		return errorAt(p.text, p.tok.span, "%s is missing %s", sign, after)
	}
	return p.advance()
}

// unexpected is the error of a token that cannot stand where it does.
func (p *parser) unexpected() *Error {
	switch t := p.tok; {
	case t.kind == tokenEnd:
		return errorAt(p.text, t.span, "the filter ends too early")
	case t.kind == tokenWord && keywords[strings.ToLower(t.text)] && !keywords[t.text]:
		return errorAt(p.text, t.span, "operators are in lower-case letters: %s", strings.ToLower(t.text))
	case t.is(")", "}", "]"):
		return errorAt(p.text, t.span, "%s closes nothing", t.text)
	case t.kind == tokenSign || keywords[t.text]:
		return errorAt(p.text, t.span, "%s cannot stand here", t.text)
	}
	return errorAt(p.text, p.tok.span, "an operator is missing before %s", p.text[p.tok.from:p.tok.to])
}

// test is an expression that is true or not.
func (p *parser) test(power int) (expr, *Error) {
	x, err := p.expr(power)
	if err != nil {
		return nil, err
	}
	return p.asTest(x)
}

// asTest makes of an operand the test whether it is there.
func (p *parser) asTest(x expr) (expr, *Error) {
	switch y := x.(type) {
	case *literal:
		return nil, p.notField(y)
	case *call:
		return nil, errorAt(p.text, y.span, "%s() is always there; compare it with something", y.name)
	}
	if isTest(x) {
		return x, nil
	}
	return &presence{x.at(), x}, nil
}

// notField is the error of a value that stands where a field is expected.
func (p *parser) notField(x *literal) *Error { return notField(p.text, x, p.names) }

func notField(text string, x *literal, names func() []string) *Error {
	if !looksLikeName(x) {
		return errorAt(text, x.span, "%s is no field; a value stands behind an operator", text[x.from:x.to])
	}
	if l := strings.ToLower(x.text); keywords[l] && l != x.text {
		return errorAt(text, x.span, "operators are in lower-case letters: %s", l)
	}
	e := errorAt(text, x.span, "no field is named %s", x.text)
	e.Near = near(strings.TrimPrefix(x.text, "."), names())
	return e
}

// looksLikeName tells a misspelt field from a value.
func looksLikeName(x *literal) bool {
	if x.kind != tokenWord || strings.ContainsAny(x.text, ":/") {
		return false
	}
	c := strings.TrimPrefix(x.text, ".") + " "
	return c[0] == '_' || c[0] >= 'a' && c[0] <= 'z' || c[0] >= 'A' && c[0] <= 'Z'
}

// operand is an expression that has values.
func (p *parser) operand(power int) (expr, *Error) {
	from := p.tok.span
	x, err := p.expr(power)
	if err != nil {
		return nil, err
	}
	if isTest(x) {
		return nil, errorAt(p.text, from.to2(x.at()), "this is a condition; a value is needed here")
	}
	return x, nil
}

// expr is all that belongs together by operators of at least this power.
func (p *parser) expr(power int) (expr, *Error) {
	if p.deep++; p.deep > deepest {
		return nil, errorAt(p.text, p.tok.span, "the filter is nested deeper than %d", deepest)
	}
	defer func() { p.deep-- }()
	x, err := p.prefix()
	if err != nil {
		return nil, err
	}
	for deep := 1; ; {
		op, infix := infixes[p.tok.text]
		infix = infix && p.tok.kind != tokenString && p.tok.kind != tokenChar
		switch {
		case infix && op.power < power:
			return x, nil
		case infix && op.power <= powerAnd:
			x, err = p.logic(x, op.name, op.power)
		case infix:
			if deep++; deep > deepest {
				return nil, errorAt(p.text, p.tok.span, "more than %d operators in one calculation", deepest)
			}
			x, err = p.arithmetic(x, op.name, op.power)
		case power <= powerRelation && p.atRelation():
			x, err = p.relation(x, "")
		default:
			return x, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// atRelation tells if a comparison or a set follows.
func (p *parser) atRelation() bool {
	if p.tok.kind != tokenWord && p.tok.kind != tokenSign {
		return false
	}
	return relations[p.tok.text] != "" || p.tok.text == "in" || p.tok.text == "not"
}

func (p *parser) logic(x expr, op string, power int) (expr, *Error) {
	x, err := p.asTest(x)
	if err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	y, err := p.test(power + 1)
	if err != nil {
		return nil, err
	}
	l, ok := x.(*logic)
	if !ok || l.op != op {
		l = &logic{x.at(), op, []expr{x}}
	}
	l.to = y.at().to
	if same, ok := y.(*logic); ok && same.op == op {
		l.args = append(l.args, same.args...)
	} else {
		l.args = append(l.args, y)
	}
	return l, nil
}

func (p *parser) arithmetic(x expr, op string, power int) (expr, *Error) {
	if isTest(x) {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	y, err := p.operand(power + 1)
	if err != nil {
		return nil, err
	}
	a := &arithmetic{x.at().to2(y.at()), op, x, y, 1 + max(depth(x), depth(y))}
	if a.deep > deepest {
		return nil, errorAt(p.text, a.span, "more than %d operators in one calculation", deepest)
	}
	return a, nil
}

// depth is how deep a calculation is nested.
func depth(x expr) int {
	switch x := x.(type) {
	case *arithmetic:
		return x.deep
	case *sliceExpr:
		return x.deep
	case *negation:
		return 1 + depth(x.x)
	case *call:
		most := 0
		for _, a := range x.args {
			most = max(most, depth(a))
		}
		return 1 + most
	}
	return 0
}

// relation is what follows an operand: comparisons, or a set.
func (p *parser) relation(x expr, quantifier string) (expr, *Error) {
	if isTest(x) {
		return nil, p.unexpected()
	}
	if p.tok.is("in", "not") {
		return p.membership(x, quantifier)
	}
	r := &relation{x.at(), quantifier, []expr{x}, nil}
	for p.tok.kind != tokenString && p.tok.kind != tokenChar && relations[p.tok.text] != "" {
		r.ops = append(r.ops, relations[p.tok.text])
		if err := p.advance(); err != nil {
			return nil, err
		}
		y, err := p.operand(powerBits)
		if err != nil {
			return nil, err
		}
		r.terms = append(r.terms, y)
		r.to = y.at().to
	}
	return r, nil
}

func (p *parser) membership(x expr, quantifier string) (expr, *Error) {
	m := &membership{x.at(), quantifier, false, x, nil}
	if p.tok.text == "not" {
		m.not = true
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if !p.tok.is("in") {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("{", "behind in: {1, 3..5}"); err != nil {
		return nil, err
	}
	for {
		member, err := p.member()
		if err != nil {
			return nil, err
		}
		m.set = append(m.set, member)
		if p.tok.is("}") {
			m.to = p.tok.to
			return m, p.advance()
		}
		if p.tok.kind == tokenWord || p.tok.kind == tokenString {
			return nil, errorAt(p.text, p.tok.span, "a comma is missing before %s", p.text[p.tok.from:p.tok.to])
		}
		if err := p.expect(",", "or } in a set"); err != nil {
			return nil, err
		}
	}
}

// member is one value or range in a set.
func (p *parser) member() (interval, *Error) {
	low, err := p.operand(powerBits)
	if err != nil || !p.tok.is("..") {
		return interval{low, nil}, err
	}
	if err := p.advance(); err != nil {
		return interval{}, err
	}
	high, err := p.operand(powerBits)
	return interval{low, high}, err
}

// prefix is what an expression begins with.
func (p *parser) prefix() (expr, *Error) {
	t := p.tok
	switch {
	case t.is("!", "not"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		x, err := p.test(powerNot)
		if err != nil {
			return nil, err
		}
		return &not{t.to2(x.at()), x}, nil
	case t.is("any", "all"):
		return p.quantified(t)
	case t.is("-", "+"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		x, err := p.operand(powerSign)
		if err != nil || t.text == "+" {
			return x, err
		}
		return &negation{t.to2(x.at()), x}, nil
	case t.is("("):
		return p.parentheses()
	case t.is("{"):
		return p.braces()
	case t.is("$"):
		return nil, errorAt(p.text, t.span, "references to a selected frame, ${…}, have no meaning without a window")
	case t.is("@"):
		return nil, errorAt(p.text, t.span, "the raw octets of a field, @, are not supported; take a slice of its layer")
	case t.kind == tokenWord && !keywords[t.text]:
		return p.word()
	case t.kind == tokenString || t.kind == tokenChar:
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.postfix(&literal{t.span, t.kind, t.text})
	}
	return nil, p.unexpected()
}

// quantified is a comparison of any or of all values of a field.
func (p *parser) quantified(q token) (expr, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.operand(powerBits)
	if err != nil {
		return nil, err
	}
	if !p.atRelation() {
		return nil, errorAt(p.text, p.tok.span, "%s needs a comparison: %s tcp.port == 80", q.text, q.text)
	}
	x, err = p.relation(x, q.text)
	switch x := x.(type) {
	case *relation:
		x.from = q.from
	case *membership:
		x.from = q.from
	}
	return x, err
}

func (p *parser) parentheses() (expr, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.expr(powerOr)
	if err != nil {
		return nil, err
	}
	if err := p.expect(")", "here"); err != nil {
		return nil, err
	}
	if isTest(x) {
		return x, nil
	}
	return p.postfix(x)
}

func (p *parser) braces() (expr, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.operand(powerBits)
	if err != nil {
		return nil, err
	}
	if err := p.expect("}", "here"); err != nil {
		return nil, err
	}
	return p.postfix(x)
}

// word is a field, a function or a value.
func (p *parser) word() (expr, *Error) {
	t := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	f := p.find(strings.TrimPrefix(t.text, "."))
	if p.tok.is("(") && (f == nil || functions[t.text] > 0) {
		return p.call(t)
	}
	if f == nil {
		return p.postfix(&literal{t.span, tokenWord, t.text})
	}
	if p.tok.is("#") {
		return nil, errorAt(p.text, p.tok.span, "layers, #, are not supported; %s without it is that of any layer", f.Name)
	}
	return p.postfix(&fieldExpr{t.span, f})
}

func (p *parser) call(name token) (expr, *Error) {
	c := &call{name.span, name.text, nil}
	most := functions[name.text]
	if most == 0 {
		e := errorAt(p.text, name.span, "no function is named %s", name.text)
		e.Near = near(name.text, functionNames())
		return nil, e
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	for !p.tok.is(")") {
		if len(c.args) > 0 {
			if err := p.expect(",", "or ) behind an argument"); err != nil {
				return nil, err
			}
		}
		x, err := p.operand(powerBits)
		if err != nil {
			return nil, err
		}
		c.args = append(c.args, x)
	}
	c.to = p.tok.to
	if err := p.advance(); err != nil {
		return nil, err
	}
	if len(c.args) == 0 || len(c.args) > most {
		takes := "one field"
		if most > 1 {
			takes = "one or more values"
		}
		return nil, errorAt(p.text, c.span, "%s() takes %s", c.name, takes)
	}
	return p.postfix(c)
}

// postfix takes slices behind an operand.
func (p *parser) postfix(x expr) (expr, *Error) {
	for p.tok.is("[") {
		if l, ok := x.(*literal); ok {
			return nil, p.notField(l)
		}
		s := &sliceExpr{x.at(), x, nil, 1 + depth(x)}
		if s.deep > deepest {
			return nil, errorAt(p.text, p.tok.span, "more than %d slices in one another", deepest)
		}
		end := strings.IndexByte(p.text[p.lexer.at:], ']')
		if end < 0 {
			return nil, errorAt(p.text, span{p.tok.from, len(p.text)}, "] is missing behind the slice")
		}
		for at, part := p.lexer.at, p.text[p.lexer.at:p.lexer.at+end]; ; {
			one, rest, more := strings.Cut(part, ",")
			o, err := parseOctets(p.text, span{at, at + len(one)})
			if err != nil {
				return nil, err
			}
			s.ranges = append(s.ranges, o)
			if at, part = at+len(one)+1, rest; !more {
				break
			}
		}
		p.lexer.at += end + 1
		s.to = p.lexer.at
		x = s
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	return x, nil
}
