package scenario

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The bounds on a file.
const (
	// MaxFile is the size of a scenario in octets.
	MaxFile = 1 << 20
	// maxTokens is how many words and signs it may have.
	maxTokens = 50_000
	// maxNesting is how deep mappings and sequences may lie in each other.
	maxNesting = 32
)

// pos is a place in the file; both count from 1, columns in characters.
type pos struct{ line, column int }

// kind of a node.
type kind uint8

const (
	null kind = iota
	scalar
	mapping
	sequence
)

func (k kind) String() string { return [...]string{"nothing", "a value", "a mapping", "a list"}[k] }

// node is a value in the file.
type node struct {
	pos
	kind kind
	// text of a scalar, or of a written null, as it is written; quoted, if it stood in quotes or in a
	// block, so that it is text whatever it looks like.
	text   string
	quoted bool
	// entries of a mapping, items of a sequence.
	entries []entry
	items   []*node
}

// entry is a key with its value.
type entry struct{ key, value *node }

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	for _, e := range n.entries {
		if e.key.text == key {
			return e.value
		}
	}
	return nil
}

// parse reads YAML. Of YAML's features it takes those that a reader sees
// through: no anchors and aliases, no tags, no merge keys, one document.
func (r *report) parse(src []byte) *node {
	if len(src) > MaxFile {
		r.fail(pos{1, 1}, "a scenario has at most %d octets, this one has %d", MaxFile, len(src))
		return nil
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	for i, line := range strings.Split(string(src), "\n") {
		line = strings.TrimSuffix(line, "\r")
		r.lines = append(r.lines, line)
		if !utf8.ValidString(line) {
			r.fail(pos{i + 1, 1}, "not UTF-8")
			return nil
		}
	}
	body := r.tree(string(src))
	switch {
	case len(r.errs) > 0:
		return nil
	case body == nil:
		r.fail(pos{1, 1}, "the scenario is empty")
		return nil
	}
	n := r.convert(body, 0)
	if len(r.errs) > 0 {
		return nil
	}
	return n
}

// tree runs the YAML parser over what [report.tokens] found harmless.
func (r *report) tree(src string) (body ast.Node) {
	// The parser is not ours, and files come from anywhere.
	defer func() {
		if recover() != nil {
			body = nil
			r.fail(pos{1, 1}, "this is not understood as YAML")
		}
	}()
	tokens := lexer.Tokenize(src)
	if !r.tokens(tokens) {
		return nil
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	for _, d := range f.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			r.fail(r.convert(d.Body, 0).pos, "a second document")
			return nil
		}
		body = d.Body
	}
	return body
}

// syntax tells of an error of the parser.
func (r *report) syntax(err error) {
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) && at.GetToken() != nil {
		r.fail(place(at.GetToken()), "%s", at.GetMessage())
		return
	}
	msg, _, _ := strings.Cut(err.Error(), "\n")
	r.fail(pos{1, 1}, "%s", msg)
}

// tokens finds what the parser would take too long for, and what is not used.
func (r *report) tokens(ts token.Tokens) bool {
	depth, line, dashes := 0, 0, 0
	for i, t := range ts {
		if i == maxTokens {
			r.fail(place(t), "more than %d words and signs", maxTokens)
			return false
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			if t.Position.Line != line {
				line, dashes = t.Position.Line, 0
			}
			dashes++
		case token.AnchorType, token.AliasType:
			r.fail(place(t), "scenarios have no anchors and aliases")
			return false
		case token.TagType, token.DirectiveType, token.MergeKeyType, token.MappingKeyType:
			r.fail(place(t), "scenarios have no tags, directives, merge keys and explicit keys")
			return false
		default:
		}
		if depth > maxNesting || dashes > maxNesting {
			r.nested(place(t))
			return false
		}
	}
	return true
}

func (r *report) nested(p pos) { r.fail(p, "nested more than %d deep", maxNesting) }

func place(t *token.Token) pos {
	if t == nil || t.Position == nil {
		return pos{1, 1}
	}
	return pos{t.Position.Line, t.Position.Column}
}

// convert makes a node of what the parser found.
func (r *report) convert(a ast.Node, depth int) *node {
	n := &node{pos: place(a.GetToken())}
	if depth > maxNesting {
		r.nested(n.pos)
		return n
	}
	switch a := a.(type) {
	case *ast.NullNode:
		if a.Token.Type == token.NullType {
			n.text = a.Token.Value
		}
	case *ast.MappingValueNode:
		r.mapping(n, []*ast.MappingValueNode{a}, depth)
	case *ast.MappingNode:
		r.mapping(n, a.Values, depth)
	case *ast.SequenceNode:
		n.kind = sequence
		for _, v := range a.Values {
			n.items = append(n.items, r.convert(v, depth+1))
		}
	case *ast.LiteralNode:
		n.kind, n.text, n.quoted = scalar, a.Value.Value, true
	case *ast.StringNode:
		n.kind, n.text = scalar, a.Value
		t := a.Token.Type
		n.quoted = t == token.SingleQuoteType || t == token.DoubleQuoteType
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = scalar, a.GetToken().Value
	default:
		r.fail(n.pos, "%s is not used in scenarios", strings.ToLower(a.Type().String()))
	}
	return n
}

func (r *report) mapping(n *node, values []*ast.MappingValueNode, depth int) {
	n.kind = mapping
	seen := map[string]bool{}
	for i, v := range values {
		key := r.convert(v.Key, depth+1)
		if i == 0 && n.column > key.column || n.line > key.line {
			n.pos = key.pos // a block mapping is said to be at its first colon
		}
		switch {
		case key.kind != scalar:
			r.fail(key.pos, "a key has to be a word")
		case seen[key.text]:
			r.fail(key.pos, "a second %q", key.text)
		}
		seen[key.text] = true
		n.entries = append(n.entries, entry{key, r.convert(v.Value, depth+1)})
	}
}
