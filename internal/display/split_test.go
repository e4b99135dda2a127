package display

import (
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// splitMatch tells if a row matches a filter whose early parts are decided before; not ok:
// it has none.
func splitMatch(f *Filter, early func(*fields.Field) bool, row *fields.Row) (matches, ok bool) {
	rest, first := f.Split(early)
	if first == nil {
		return false, false
	}
	of := func(list []*fields.Field) *fields.Row {
		r := fields.NewRow(len(list))
		for i, x := range list {
			for _, v := range row.Values(slices.Index(f.Fields(), x)) {
				r.Add(i, v)
			}
		}
		return r
	}
	rest.Give(first.Clone().Match(of(first.Fields())))
	return rest.Match(of(rest.Fields())), true
}

// TestFilter_Split: the parts are as large as they can be, and what they decide is no longer
// asked of the row.
func TestFilter_Split(t *testing.T) {
	isIP := func(f *fields.Field) bool { return strings.HasPrefix(f.Name, "ip.") }
	for _, test := range []struct {
		filter      string
		early, rest string // the fields of both
		parts       int
	}{
		{"ip.src == 10.0.0.1 && tcp.len > 1", "ip.src", "tcp.len", 1},
		{"ip.src == 10.0.0.1 || ip.addr == 10.0.0.1", "ip.src ip.addr", "", 1},
		{"(ip.src == 10.0.0.1 or not ip.addr in {10.0.0.1, 10.0.0.4 .. 10.0.0.8}) && tcp", "ip.src ip.addr", "tcp", 1},
		{"ip.src == 10.0.0.1 && (tcp.len > 1 || !ip.addr[0:1] == 0a)", "ip.src ip.addr", "tcp.len", 2},
		{"ip.src == 10.0.0.1 xor tcp.len == 1 xor count(ip.addr) == 1", "ip.src ip.addr", "tcp.len", 2},
	} {
		f, err := Compile(test.filter, find, names)
		if err != nil {
			t.Fatal(err)
		}
		rest, first := f.Split(isIP)
		if first == nil {
			t.Errorf("%s has no early parts", test.filter)
			continue
		}
		list := func(fs []*fields.Field) string {
			all := make([]string, 0, len(fs))
			for _, f := range fs {
				all = append(all, f.Name)
			}
			return strings.Join(all, " ")
		}
		if e, r := list(first.Fields()), list(rest.Fields()); e != test.early || r != test.rest || len(first.parts) != test.parts {
			t.Errorf("%s: %d parts read %q, the rest %q", test.filter, len(first.parts), e, r)
		}
		if rest.String() != f.String() {
			t.Errorf("%s prints as %s when it is split", test.filter, rest)
		}
	}
	for _, none := range []string{"", "tcp.len > 1", "tcp.len == 1 || tcp.port in {1, 2}"} {
		f, err := Compile(none, find, names)
		if err != nil {
			t.Fatal(err)
		}
		if _, first := f.Split(isIP); first != nil {
			t.Errorf("%q has early parts", none)
		}
	}
}
