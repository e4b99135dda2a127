package display

import "github.com/iwdissect/iwdissect/internal/fields"

// Early are the parts of a filter that can be decided before the rest of it, see
// [Filter.Split]. It is for one goroutine at a time.
type Early struct {
	text   string
	parts  []expr
	fields []*fields.Field
	tests  []test
}

// maxEarly is how many parts there are at most: each has a bit.
const maxEarly = 64

// Split takes the parts out of a filter that read nothing but fields for which early is
// true. What they decide is a bit for each, which the rest takes as given. It returns nil if
// there are no such parts.
func (f *Filter) Split(early func(*fields.Field) bool) (rest *Filter, first *Early) {
	if f.tree == nil {
		return nil, nil
	}
	first = &Early{text: f.text}
	s := splitter{early, first, new(uint64)}
	tree := s.split(f.tree)
	if len(first.parts) == 0 {
		return nil, nil
	}
	c := newCompiler(f.text, nil)
	rest = &Filter{tree: f.tree, text: f.text, given: s.bits, match: c.again(tree)}
	rest.fields = c.fields
	return rest, first.Clone()
}

// Clone makes the same parts for another goroutine.
func (e *Early) Clone() *Early {
	own := &Early{text: e.text, parts: e.parts}
	c := newCompiler(e.text, nil)
	for _, p := range e.parts {
		own.tests = append(own.tests, c.again(p))
	}
	own.fields = c.fields
	return own
}

// again compiles a part of what was compiled before without an error.
func (c *compiler) again(x expr) test {
	t, err := c.test(x)
	if err != nil {
		panic(err)
	}
	return t
}

// Fields are those that the parts read, as [Filter.Fields].
func (e *Early) Fields() []*fields.Field { return e.fields }

// Match returns a bit for each part: set if the row is as it wants.
func (e *Early) Match(row *fields.Row) (bits uint64) {
	for i, t := range e.tests {
		if t(row) {
			bits |= 1 << i
		}
	}
	return bits
}

// Give tells the rest of a filter that was split what its early parts decided.
func (f *Filter) Give(bits uint64) { *f.given = bits }

// given stands for an early part.
type given struct {
	expr
	bits *uint64
	mask uint64
}

type splitter struct {
	early func(*fields.Field) bool
	into  *Early
	bits  *uint64
}

// split returns a test without its early parts.
func (s *splitter) split(x expr) expr {
	if len(s.into.parts) < maxEarly && reads(x, s.early) {
		s.into.parts = append(s.into.parts, x)
		return &given{x, s.bits, 1 << (len(s.into.parts) - 1)}
	}
	switch x := x.(type) {
	case *logic:
		own := *x
		own.args = make([]expr, len(x.args))
		for i, a := range x.args {
			own.args[i] = s.split(a)
		}
		return &own
	case *not:
		return &not{x.span, s.split(x.x)}
	}
	return x
}

// reads reports whether all fields of an expression are such, and there is one.
func reads(x expr, such func(*fields.Field) bool) bool {
	some, all := false, true
	eachField(x, func(f *fields.Field) { some, all = true, all && such(f) })
	return some && all
}

// eachField calls a function with the fields of an expression.
func eachField(x expr, f func(*fields.Field)) {
	each := func(xs ...expr) {
		for _, x := range xs {
			if x != nil {
				eachField(x, f)
			}
		}
	}
	switch x := x.(type) {
	case *fieldExpr:
		f(x.field)
	case *sliceExpr:
		each(x.x)
	case *call:
		each(x.args...)
	case *negation:
		each(x.x)
	case *arithmetic:
		each(x.x, x.y)
	case *logic:
		each(x.args...)
	case *not:
		each(x.x)
	case *relation:
		each(x.terms...)
	case *membership:
		each(x.x)
		for _, m := range x.set {
			each(m.low, m.high)
		}
	case *presence:
		each(x.x)
	}
}
