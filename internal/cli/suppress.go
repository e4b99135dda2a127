package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/trace"
)

// suppression is an entry of suppress: findings that shall not fail, and why.
type suppression struct {
	line               int
	rule, reason, file string
	rules              func(*conformance.Entry) bool
	conn               func(*trace.Connection) bool
	// until is the last day on which it holds, if it is not zero.
	until time.Time
}

// suppression reads an entry.
func (r *configReader) suppression(n *strictyaml.Node) *suppression {
	s := &suppression{line: n.Line, conn: func(*trace.Connection) bool { return true }}
	ok := r.Mapping(n, strictyaml.Keys{
		"rule": func(n *strictyaml.Node) {
			if !r.pattern(&s.rule)(n) {
				return
			}
			if why := idle(s.rule); why != "" {
				r.Fail(n.Pos, "%q suppresses nothing: %s", s.rule, why)
			}
		},
		"reason": r.Text(&s.reason),
		"file": func(n *strictyaml.Node) {
			if r.Text(&s.file)(n); n.Kind != strictyaml.Scalar {
				return
			}
			switch _, err := path.Match(s.file, ""); {
			case err != nil || s.file == "":
				r.Fail(n.Pos, "%q is no pattern of file names", s.file)
			case path.IsAbs(s.file) || path.Clean(s.file) == ".":
				r.Fail(n.Pos, "%q matches no capture: a pattern with a slash is of paths from the folder of the configuration", s.file)
			}
		},
		"conn":  r.endpoints(s),
		"until": r.date(&s.until),
	})
	if !ok {
		return nil
	}
	for _, key := range []string{"rule", "reason"} {
		if v := n.Get(key); v == nil || v.Kind == strictyaml.Scalar && strings.TrimSpace(v.Text) == "" {
			r.Fail(n.Pos, "a suppression needs a %s", key)
		}
	}
	s.rules = naming([]string{s.rule})
	return s
}

// date reads a day.
func (r *configReader) date(p *time.Time) strictyaml.Setter {
	return func(n *strictyaml.Node) {
		if !r.Is(n, strictyaml.Scalar) {
			return
		}
		day, err := time.ParseInLocation(time.DateOnly, n.Text, time.Local)
		if err != nil {
			r.Fail(n.Pos, "expected a day such as 2027-01-31, not %q", n.Text)
		}
		*p = day
	}
}

// endpoints reads a pattern of endpoints: of either, or of the initiator and the
// responder with > between them.
func (r *configReader) endpoints(s *suppression) strictyaml.Setter {
	return func(n *strictyaml.Node) {
		var text string
		if r.Text(&text)(n); n.Kind != strictyaml.Scalar {
			return
		}
		first, second, both := strings.Cut(text, ">")
		a, ok := endpointsLike(first)
		b, ok2 := a, ok
		if both {
			b, ok2 = endpointsLike(second)
		}
		if !ok || !ok2 {
			r.Fail(n.Pos, `expected endpoints such as "10.0.0.1:*", "10.0.0.1 > *:7200" or "[2001:db8::*]:7200", not %q`, text)
			return
		}
		s.conn = func(t *trace.Connection) bool {
			i, r := t.Side[trace.I2R].Addr.String(), t.Side[trace.R2I].Addr.String()
			if both {
				return a.of(i) && b.of(r)
			}
			return a.of(i) || a.of(r)
		}
	}
}

// over reports whether the last day of a suppression has passed.
func (s *suppression) over(now time.Time) bool {
	return !s.until.IsZero() && !now.Before(s.until.AddDate(0, 0, 1))
}

// covers reports whether the suppression applies to a finding in captures of these names.
func (s *suppression) covers(names []string, f *render.Finding) bool {
	return s.rules(f.Rule) && s.conn(f.Conn) && (s.file == "" || slices.ContainsFunc(names, s.named))
}

// named reports whether the pattern of file names means a file, by a word of its
// name or, if the pattern has a slash, by its beginning: a folder stands for all
// below it.
func (s *suppression) named(name string) bool {
	words := strings.Split(name, "/")
	pattern := path.Clean(s.file)
	for i, w := range words {
		if strings.Contains(s.file, "/") {
			w = path.Clean(strings.Join(words[:i+1], "/")) // of a URL, as the pattern
		}
		if ok, err := path.Match(pattern, w); ok && err == nil {
			return true
		}
	}
	return false
}

// mark marks the findings that the configuration suppresses.
func (c *config) mark(names []string, fs []render.Finding) {
	names = within(c.folder, names)
	for i := range fs {
		f := &fs[i]
		for _, s := range c.suppress {
			if s.covers(names, f) {
				f.Suppressed, f.Reason = true, s.reason
				break
			}
		}
	}
}

// expire removes suppressions whose last day has passed, and reports them.
func (c *config) expire(now time.Time, tell func(error)) {
	c.suppress = slices.DeleteFunc(c.suppress, func(s *suppression) bool {
		over := s.over(now)
		if over {
			tell(fmt.Errorf("%s:%d: the suppression of %s ended on %s", c.file, s.line, s.rule, s.until.Format(time.DateOnly)))
		}
		return over
	})
}
