package fields

import "sync"

// OfFrame reports whether the values of a field stand in the frame itself, whatever came
// before it, and PDUs have none of their own: they can be read before the frame has its
// place in a connection.
func OfFrame(f *Field) bool { return framed()[f.Name] }

var framed = sync.OnceValue(func() map[string]bool {
	of := map[string]bool{}
	note := func(name string, itself bool) {
		before, known := of[name]
		of[name] = itself && (before || !known)
	}
	for _, l := range layerTable {
		if l.Self != nil {
			note(l.Self.Name, true)
		}
		for i := range l.Rows {
			r := &l.Rows[i]
			note(r.Name, l.Name != "" && !r.tcp && r.When == Early && (r.get == nil || r.alone))
		}
	}
	for f, members := range known().members {
		for _, m := range members {
			if layers[m.layer] != &headerLayer {
				of[f.Name] = false
			}
		}
	}
	return of
})
