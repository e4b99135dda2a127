package scenario

import "strings"

// Evidence describes a record of the dissection: the value that each of its
// members, or of its fields, has. A value that begins with ~ is contained in
// the member; a list is compared as a whole.
type Evidence map[string]string

// evidence reads a list of descriptions of records.
func (c *compiler) evidence(into *[]Evidence) func(*node) {
	return func(n *node) {
		c.List(n, func(n *node) {
			if !c.Is(n, mapping) {
				return
			}
			e := Evidence{}
			for _, m := range n.Entries {
				switch m.Value.Kind {
				case scalar:
					e[m.Key.Text] = m.Value.Text
				case sequence:
					items := make([]string, 0, len(m.Value.Items))
					for _, i := range m.Value.Items {
						items = append(items, i.Text)
					}
					e[m.Key.Text] = "[" + strings.Join(items, ",") + "]"
				case null, mapping:
					c.Fail(m.Value.Pos, "expected a value or a list of values")
				}
			}
			*into = append(*into, e)
		})
	}
}
