package upperpdu

import "github.com/iwdissect/iwdissect/trace"

// fragments are the octets of a message of SMB that is sent in several data transfers of SMB
// Direct ([MS-SMBD] section 3.1.5.8), up to the first one that was not captured.
type fragments struct {
	octets []byte
	length int
	gone   bool // there is no room for it
}

// maxFragmented bounds how many messages are sent in fragments at once.
const maxFragmented = 1 << 12

// way is a direction of a connection. The fragments of a message go it one after the other.
type way struct {
	conn uint64
	dir  trace.Dir
}

// fragment adds the next one.
func (w *Writer) fragment(f *fragments, payload []byte, length int) {
	whole := len(f.octets) == f.length
	f.length += length
	switch {
	case f.gone || !whole:
	case f.length > maxMessage || w.held+len(payload) > w.most:
		f.gone = true
	default:
		f.octets = append(f.octets, payload...)
		w.held += len(payload)
	}
}

// forget lets go of the fragments of a direction, if there are any.
func (w *Writer) forget(key way) (had bool) {
	f := w.fragments[key]
	if f == nil {
		return false
	}
	w.held -= len(f.octets)
	delete(w.fragments, key)
	return true
}
