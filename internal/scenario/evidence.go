package scenario

import "strings"

// Evidence describes a record of the dissection: the value that each of its
// members, or of its fields, has. A value that begins with ~ is contained in
// the member; a list is compared as a whole.
type Evidence map[string]string

// evidence reads a list of descriptions of records.
func (c *compiler) evidence(into *[]Evidence) func(*node) {
	return func(n *node) {
		c.list(n, func(n *node) {
			if !c.is(n, mapping) {
				return
			}
			e := Evidence{}
			for _, m := range n.entries {
				switch m.value.kind {
				case scalar:
					e[m.key.text] = m.value.text
				case sequence:
					items := make([]string, 0, len(m.value.items))
					for _, i := range m.value.items {
						items = append(items, i.text)
					}
					e[m.key.text] = "[" + strings.Join(items, ",") + "]"
				case null, mapping:
					c.fail(m.value.pos, "expected a value or a list of values")
				}
			}
			*into = append(*into, e)
		})
	}
}
