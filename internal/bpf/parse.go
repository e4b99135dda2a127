package bpf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// Filter is a filter that was understood. It is not changed by anything.
type Filter struct {
	text string
	root node // nil selects everything
	// tags counts "vlan".
	tags int
}

// String returns the text of the filter.
func (f *Filter) String() string { return f.text }

// node is a condition of the filter: and, or, not, or a leaf.
type node interface{}

type (
	andNode struct{ a, b node }
	orNode  struct{ a, b node }
	notNode struct{ a node }
	// leaf is a condition on the frame.
	leaf struct {
		primitive
		// tags is the number of "vlan" in front of it.
		tags int
		// where it stands, for errors that depend on the link type.
		at, size int
	}
)

// maxNesting bounds parentheses, indexes and "not" inside each other.
const maxNesting = 200

// Parse reads a filter. An empty one selects everything. What is wrong is told
// as an *[Error].
func Parse(text string) (*Filter, error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens}
	f := &Filter{text: text}
	if p.peek().kind == end {
		return f, nil
	}
	if f.root, err = p.expression(); err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		return nil, p.trailing(t)
	}
	f.tags = p.tags
	return f, nil
}

// Join makes one text of the words of a command line.
func Join(words []string) string { return strings.Join(words, " ") }

// parser descends recursively.
type parser struct {
	text   string
	tokens []token
	next   int
	depth  int
	tags   int
	// qual qualifies a value that stands alone; nil if there is nothing to
	// carry on.
	qual *qualifier
	// listed is set between the parentheses behind a qualifier, where names
	// that are also keywords are values: proto (tcp or udp).
	listed bool
}

func (p *parser) peek() *token { return &p.tokens[p.next] }

// peekAt looks further ahead; behind the end there is only the end.
func (p *parser) peekAt(n int) *token { return &p.tokens[min(p.next+n, len(p.tokens)-1)] }

func (p *parser) take() *token {
	t := &p.tokens[p.next]
	if t.kind != end {
		p.next++
	}
	return t
}

// accept takes a keyword or an operator if it comes next.
func (p *parser) accept(text string) bool {
	if !p.peek().is(text) {
		return false
	}
	p.next++
	return true
}

func (p *parser) fail(t *token, format string, args ...any) error {
	return &Error{Filter: p.text, Offset: t.pos, Length: t.size, Message: fmt.Sprintf(format, args...)}
}

// nest enters something that can contain itself.
func (p *parser) nest(t *token) error {
	if p.depth++; p.depth > maxNesting {
		return p.fail(t, "more than %d levels of parentheses, indexes and \"not\"", maxNesting)
	}
	return nil
}

// expression reads conditions with "and" and "or" between them, which bind
// equally strong.
func (p *parser) expression() (node, error) {
	a, err := p.operand()
	if err != nil {
		return nil, err
	}
	for {
		or := p.peek().is("or")
		if !or && !p.peek().is("and") {
			return a, nil
		}
		p.take()
		b, err := p.operand()
		if err != nil {
			return nil, err
		}
		if or {
			a = &orNode{a, b}
		} else {
			a = &andNode{a, b}
		}
	}
}

// operand reads one condition, or several in parentheses.
func (p *parser) operand() (node, error) {
	t := p.peek()
	if t.is("not") {
		p.take()
		if err := p.nest(t); err != nil {
			return nil, err
		}
		defer func() { p.depth-- }()
		a, err := p.operand()
		return &notNode{a}, err
	}
	if p.arithmetic() {
		return p.relation()
	}
	switch t.kind {
	case number, ipv4, ipv6, mac, escaped:
		return p.value()
	case operator:
		if t.is("(") {
			return p.group(p.operandList)
		}
	case word:
		if q := p.qual; q != nil && q.names(t) && (p.listed || !slices.Contains(keywords, t.text)) {
			return p.value()
		}
		return p.condition(t)
	case end:
	}
	return nil, p.expected(t, "a condition such as tcp, host 10.0.0.1, port 5445 or tcp[13] = 2")
}

// operandList is an expression behind which the qualifiers hold again that
// held before it.
func (p *parser) operandList() (node, error) {
	before, listed := p.qual, p.listed
	a, err := p.expression()
	p.qual, p.listed = before, listed
	return a, err
}

// group reads what stands in parentheses.
func (p *parser) group(inside func() (node, error)) (node, error) {
	open := p.take()
	if err := p.nest(open); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	a, err := inside()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); !p.accept(")") {
		if t.kind == end {
			return nil, p.fail(open, "this parenthesis is not closed")
		}
		return nil, p.trailing(t)
	}
	return a, nil
}

// leaf makes a condition of what was read since a token.
func (p *parser) leaf(from *token, what primitive) node {
	last := &p.tokens[max(p.next-1, 0)]
	return &leaf{primitive: what, tags: p.tags, at: from.pos, size: max(last.pos+last.size-from.pos, from.size)}
}

// condition reads what begins with a word.
func (p *parser) condition(t *token) (node, error) {
	if f, ok := alone[t.text]; ok {
		p.take()
		p.qual = nil
		return f(p, t)
	}
	if _, ok := protocols[t.text]; ok || qualifies(t) {
		return p.qualified()
	}
	return nil, p.unknown(t)
}

// alone are conditions that take no qualifiers.
var alone = map[string]func(p *parser, t *token) (node, error){
	"vlan":     (*parser).vlan,
	"less":     (*parser).length,
	"greater":  (*parser).length,
	"ifindex":  (*parser).ifindex,
	"inbound":  func(p *parser, t *token) (node, error) { return p.leaf(t, direction{}), nil },
	"outbound": func(p *parser, t *token) (node, error) { return p.leaf(t, direction{out: true}), nil },
	"broadcast": func(p *parser, t *token) (node, error) {
		return p.leaf(t, etherBroadcast{}), nil
	},
	"multicast": func(p *parser, t *token) (node, error) {
		return p.leaf(t, multicast{}), nil
	},
}

func (p *parser) vlan(t *token) (node, error) {
	v := vlanTag{}
	if n, ok := p.optionalNumber(); ok {
		if n.val > maxVLAN {
			return nil, p.fail(n, "a VLAN identifier is at most %d, not %d", maxVLAN, n.val)
		}
		v.id, v.one = n.val, true
	}
	l := p.leaf(t, v)
	p.tags++
	return l, nil
}

// maxVLAN is the largest VLAN identifier of 12 bits.
const maxVLAN = 4095

func (p *parser) length(t *token) (node, error) {
	n, err := p.plainNumber(t.text + " takes a length in octets")
	if err != nil {
		return nil, err
	}
	return p.leaf(t, lengthLimit{limit: n.val, most: t.text == "less"}), nil
}

func (p *parser) ifindex(t *token) (node, error) {
	n, err := p.plainNumber("ifindex takes the number of an interface")
	if err != nil {
		return nil, err
	}
	return p.leaf(t, interfaceIndex{n.val}), nil
}

// plainNumber reads a number, perhaps in parentheses.
func (p *parser) plainNumber(expected string) (*token, error) {
	n, ok := p.optionalNumber()
	if !ok {
		return nil, p.expected(p.peek(), expected)
	}
	return n, nil
}

// optionalNumber reads a number, perhaps in parentheses, if one comes next that
// begins no calculation.
func (p *parser) optionalNumber() (*token, bool) {
	depth := 0
	for p.peekAt(depth).is("(") {
		depth++
	}
	n := p.peekAt(depth)
	if n.kind != number {
		return nil, false
	}
	for i := range depth {
		if !p.peekAt(depth + 1 + i).is(")") {
			return nil, false
		}
	}
	p.next += 2*depth + 1
	return n, true
}

// expected says what should stand at a token.
func (p *parser) expected(t *token, what string) error {
	if t.kind == word && !slices.Contains(keywords, t.text) {
		return p.unknown(t)
	}
	return p.fail(t, "expected %s, not %s", what, t.describe())
}

// unknown is the error of a word that means nothing here.
func (p *parser) unknown(t *token) error {
	switch {
	case elsewhere[t.text]:
		return p.fail(t, "%s is not compiled here; compile the filter with tcpdump -ddd and give it as --bpf-file", t.text)
	case slices.Contains(keywords, t.text):
		return p.fail(t, "%s does not fit here: a condition is something like tcp, host 10.0.0.1, port 5445 or tcp[13] = 2", t.describe())
	case rangeOfDigits(t.text):
		return p.fail(t, "%s is one word; put spaces around - to subtract, portrange in front for a range of ports", t.describe())
	}
	if near := strictyaml.Nearest(t.text, keywords); near != "" {
		return p.fail(t, "unknown word %s; did you mean %s?", t.describe(), near)
	}
	if near := strictyaml.Nearest(strings.ToLower(t.text), keywords); near != "" {
		return p.fail(t, "unknown word %s; did you mean %s?", t.describe(), near)
	}
	return p.fail(t, "unknown word %s: a host is given as host ADDRESS, and as an address, for nothing is resolved", t.describe())
}

func rangeOfDigits(w string) bool {
	return strings.Trim(w, "0123456789-") == "" && strings.Contains(w, "-")
}

// trailing is the error of something behind the end of a condition.
func (p *parser) trailing(t *token) error {
	switch {
	case t.is(")"):
		return p.fail(t, "this parenthesis was not opened")
	case t.kind == operator:
		return p.fail(t, "expected and, or, or the end, not %s", t.describe())
	}
	if t.kind == word && !slices.Contains(keywords, t.text) && services[t.text] == 0 {
		return p.unknown(t)
	}
	return p.fail(t, "expected and, or, or the end in front of %s", t.describe())
}
