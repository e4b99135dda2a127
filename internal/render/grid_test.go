package render

import (
	"slices"
	"strings"
	"testing"
)

// TestGrid: columns are left out by importance, and named; what can be folded is; what
// is gained by that shows columns again; sentences are broken, or stand below.
func TestGrid(t *testing.T) {
	t.Parallel()
	short := &grid{
		title: "T",
		cols:  []column{{name: "conn"}, {name: "ends", fold: true, leave: 2}, {name: "kind", leave: 1}, {name: "long name", right: true, leave: 3}},
		rows:  [][]string{{"0", "[fe80::1]:1 > [fe80::2]:2", "\x1b[31mone two\x1b[0m", "77"}, {"1", "a > b", "日本", "8"}},
	}
	text := &grid{
		title: "T",
		cols:  []column{{name: "conn"}, {name: "rule"}, {name: "what", text: true}},
		rows:  [][]string{{"0", "RULE-NAME-01", "one sentence that is somewhat longer than the room"}, {"1", "R", "short"}},
	}
	for _, c := range []struct {
		name  string
		g     *grid
		width int
		want  []string
	}{
		{"any width", short, 0, []string{
			"conn  ends                       kind     long name",
			"0     [fe80::1]:1 > [fe80::2]:2  \x1b[31mone two\x1b[0m         77",
			"1     a > b                      日本             8",
		}},
		{"the name is broken", short, 47, []string{
			"conn  ends                       kind     long",
			"                                          name",
			"0     [fe80::1]:1 > [fe80::2]:2  \x1b[31mone two\x1b[0m    77",
			"1     a > b                      日本        8",
		}},
		{"a column is left out", short, 45, []string{
			"conn  ends                       kind",
			"0     [fe80::1]:1 > [fe80::2]:2  \x1b[31mone two\x1b[0m",
			"1     a > b                      日本",
			"Left out to fit 45 columns: long name.", "--width 0 shows all.",
		}},
		{"the ends are folded, which makes room", short, 39, []string{
			"conn  ends           kind     long",
			"                              name",
			"0     [fe80::1]:1 >  \x1b[31mone two\x1b[0m    77",
			"      [fe80::2]:2",
			"1     a > b          日本        8",
		}},
		{"narrower than its words", short, 17, []string{
			"conn  ends",
			"0     [fe80::1]:1",
			"      >",
			"      [fe80::2]:2",
			"1     a > b",
			"Left out to fit", "17 columns: kind;", "long name.", "--width 0 shows", "all.",
		}},
		{"sentences are broken", text, 62, []string{
			"conn  rule          what",
			"0     RULE-NAME-01  one sentence that is somewhat longer than",
			"                    the room",
			"1     R             short",
		}},
		{"sentences stand below", text, 40, []string{
			"conn  rule",
			"0     RULE-NAME-01",
			"    one sentence that is somewhat longer",
			"    than the room",
			"1     R",
			"    short",
		}},
	} {
		var b strings.Builder
		if err := c.g.write(&b, c.width); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")[2:]
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
