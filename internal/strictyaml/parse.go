package strictyaml

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
	// MaxFile is the size of a file in octets.
	MaxFile = 1 << 20
	// maxTokens is how many words and signs it may have.
	maxTokens = 50_000
	// maxNesting is how deep mappings and sequences may lie in each other.
	maxNesting = 32
)

// Pos is a place in the file; both count from 1, columns in characters.
type Pos struct{ Line, Column int }

// Kind of a node.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Scalar
	Mapping
	Sequence
)

// String returns the kind as errors spell it.
func (k Kind) String() string { return [...]string{"nothing", "a value", "a mapping", "a list"}[k] }

// Node is a value in the file.
type Node struct {
	Pos
	Kind Kind
	// Text of a scalar, or of a written null, as it is written; Quoted, if it stood in quotes or in a
	// block, so that it is text whatever it looks like.
	Text   string
	Quoted bool
	// Entries of a mapping, items of a sequence.
	Entries []Entry
	Items   []*Node
}

// Entry is a key with its value.
type Entry struct{ Key, Value *Node }

// Get returns the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	for _, e := range n.Entries {
		if e.Key.Text == key {
			return e.Value
		}
	}
	return nil
}

// Parse reads YAML; it returns nil if that is not possible, or the file has nothing in it. Of YAML's features it takes those that a reader sees
// through: no anchors and aliases, no tags, no merge keys, one document.
func (r *Report) Parse(src []byte) *Node {
	if len(src) > MaxFile {
		r.Fail(Pos{1, 1}, "a %s has at most %d octets, this one has more", r.What, MaxFile)
		return nil
	}
	src = r.Lines(src)
	for i, line := range r.lines {
		if !utf8.ValidString(line) {
			r.Fail(Pos{i + 1, 1}, "not UTF-8")
			return nil
		}
	}
	body := r.tree(string(src))
	switch {
	case len(r.errs) > 0:
		return nil
	case body == nil && r.MayBeEmpty:
		return nil
	case body == nil:
		r.Fail(Pos{1, 1}, "the %s is empty", r.What)
		return nil
	}
	n := r.convert(body, 0)
	if len(r.errs) > 0 {
		return nil
	}
	return n
}

// Lines takes the lines of a file for errors to show. It returns the file without a mark
// of the order of octets.
func (r *Report) Lines(src []byte) []byte {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	for line := range strings.SplitSeq(string(src), "\n") {
		r.lines = append(r.lines, strings.TrimSuffix(line, "\r"))
	}
	return src
}

// tree runs the YAML parser over what [Report.tokens] found harmless.
func (r *Report) tree(src string) (body ast.Node) {
	// The parser is not ours, and files come from anywhere.
	defer func() {
		if recover() != nil {
			body = nil
			r.Fail(Pos{1, 1}, "this is not understood as YAML")
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
			r.Fail(r.convert(d.Body, 0).Pos, "a second document")
			return nil
		}
		body = d.Body
	}
	return body
}

// syntax tells of an error of the parser.
func (r *Report) syntax(err error) {
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) && at.GetToken() != nil {
		msg := at.GetMessage()
		p := place(at.GetToken())
		// "found character '\t' that cannot start any token", "tab character cannot use as a map key directly"
		if strings.Contains(msg, "'\t'") || strings.HasPrefix(msg, "tab character") {
			msg = "a tab, where YAML takes only blanks"
			if p.Line <= len(r.lines) {
				before, _, _ := strings.Cut(r.lines[p.Line-1], "\t")
				p.Column = 1 + utf8.RuneCountInString(before)
			}
		}
		r.Fail(p, "%s", msg)
		return
	}
	msg, _, _ := strings.Cut(err.Error(), "\n")
	r.Fail(Pos{1, 1}, "%s", msg)
}

// tokens finds what the parser would take too long for, and what is not used.
func (r *Report) tokens(ts token.Tokens) bool {
	depth, line, dashes := 0, 0, 0
	for i, t := range ts {
		if i == maxTokens {
			r.Fail(place(t), "more than %d words and signs", maxTokens)
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
			r.Fail(place(t), "a %s has no anchors and aliases", r.What)
			return false
		case token.TagType, token.DirectiveType, token.MergeKeyType, token.MappingKeyType:
			r.Fail(place(t), "a %s has no tags, directives, merge keys and explicit keys", r.What)
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

func (r *Report) nested(p Pos) { r.Fail(p, "nested more than %d deep", maxNesting) }

func place(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{1, 1}
	}
	return Pos{t.Position.Line, t.Position.Column}
}

// convert makes a node of what the parser found.
func (r *Report) convert(a ast.Node, depth int) *Node {
	n := &Node{Pos: place(a.GetToken())}
	if depth > maxNesting {
		r.nested(n.Pos)
		return n
	}
	switch a := a.(type) {
	case *ast.NullNode:
		if a.Token.Type == token.NullType {
			n.Text = a.Token.Value
		}
	case *ast.MappingValueNode:
		r.mapping(n, []*ast.MappingValueNode{a}, depth)
	case *ast.MappingNode:
		r.mapping(n, a.Values, depth)
	case *ast.SequenceNode:
		n.Kind = Sequence
		for _, v := range a.Values {
			n.Items = append(n.Items, r.convert(v, depth+1))
		}
	case *ast.LiteralNode:
		n.Kind, n.Text, n.Quoted = Scalar, a.Value.Value, true
	case *ast.StringNode:
		n.Kind, n.Text = Scalar, a.Value
		t := a.Token.Type
		n.Quoted = t == token.SingleQuoteType || t == token.DoubleQuoteType
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		n.Kind, n.Text = Scalar, a.GetToken().Value
	default:
		r.Fail(n.Pos, "%s is not used in a %s", strings.ToLower(a.Type().String()), r.What)
	}
	return n
}

func (r *Report) mapping(n *Node, values []*ast.MappingValueNode, depth int) {
	n.Kind = Mapping
	seen := map[string]bool{}
	for i, v := range values {
		key := r.convert(v.Key, depth+1)
		if i == 0 && n.Column > key.Column || n.Line > key.Line {
			n.Pos = key.Pos // a block mapping is said to be at its first colon
		}
		switch {
		case key.Kind != Scalar:
			r.Fail(key.Pos, "a key has to be a word")
		case seen[key.Text]:
			r.Fail(key.Pos, "a second %q", key.Text)
		}
		seen[key.Text] = true
		n.Entries = append(n.Entries, Entry{key, r.convert(v.Value, depth+1)})
	}
}
