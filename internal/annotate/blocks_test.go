package annotate_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/annotate"
)

// The tests read and write blocks of pcapng by themselves (draft-ietf-opsawg-pcapng section 3),
// so that a fault of the package under test and of its reader does not show as right.

// block is a block of a file.
type block struct {
	kind  uint32
	order order
	all   []byte
}

type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// blocksOf cuts a file into blocks.
func blocksOf(t testing.TB, file []byte) (all []block) {
	t.Helper()
	var o order = binary.LittleEndian
	for at := 0; at < len(file); {
		b := file[at:]
		if len(b) < 12 {
			t.Fatalf("%d octets behind the last block", len(b))
		}
		if bytes.HasPrefix(b, []byte{0x0a, 0x0d, 0x0d, 0x0a}) {
			o = binary.LittleEndian
			if bytes.Equal(b[8:12], []byte{0x1a, 0x2b, 0x3c, 0x4d}) {
				o = binary.BigEndian
			}
		}
		n := int(o.Uint32(b[4:]))
		if n < 12 || n%4 != 0 || n > len(b) || int(o.Uint32(b[n-4:])) != n {
			t.Fatalf("octet %d: a block of %d octets", at, n)
		}
		all = append(all, block{o.Uint32(b), o, b[:n]})
		at += n
	}
	return all
}

const (
	section  = 0x0a0d0d0a
	enhanced = 6
	obsolete = 2
	simple   = 3
)

// options is where the options of a block begin, or -1.
func (b *block) options() int {
	switch b.kind {
	case section:
		return 24
	case enhanced, obsolete:
		return 28 + int(b.order.Uint32(b.all[20:])+3)/4*4
	}
	return -1
}

// parted takes our comments out of a block: those that the block of the original does not have.
func (b *block) parted(of *block) (ours []string, rest []byte) {
	at := b.options()
	if at < 0 {
		return nil, b.all
	}
	rest = slices.Clone(b.all[:at])
	list := b.all[at : len(b.all)-4]
	for len(list) >= 4 {
		code, n := b.order.Uint16(list), int(b.order.Uint16(list[2:]))
		size := 4 + (n+3)/4*4
		if code == 0 || size > len(list) {
			break
		}
		text := string(list[4 : 4+n])
		if code == 1 && strings.HasPrefix(text, annotate.Prefix) && !bytes.Contains(of.all, list[:size]) {
			ours = append(ours, text)
		} else {
			rest = append(rest, list[:size]...)
		}
		list = list[size:]
	}
	if len(ours) > 0 && len(of.all) == of.options()+4 && bytes.Equal(list, []byte{0, 0, 0, 0}) {
		list = nil // the list is ours, and so is its end
	}
	rest = append(rest, list...)
	rest = b.order.AppendUint32(rest, uint32(len(rest)+4))
	b.order.PutUint32(rest[4:], uint32(len(rest)))
	if b.kind == section {
		copy(rest[16:24], of.all[16:24])
	}
	return ours, rest
}

// stripped holds a file against the original: without our comments it is the same. It returns
// the comments of each section and packet.
func stripped(t testing.TB, original, file []byte) (comments [][]string) {
	t.Helper()
	a, b := blocksOf(t, original), blocksOf(t, file)
	if len(a) != len(b) {
		t.Fatalf("%d blocks, not %d", len(b), len(a))
	}
	for i := range b {
		ours, rest := b[i].parted(&a[i])
		if !bytes.Equal(rest, a[i].all) {
			t.Fatalf("block %d of type %#x is\n%x, not\n%x", i, a[i].kind, rest, a[i].all)
		}
		switch b[i].kind {
		case section:
			if s := b[i].all[16:24]; !bytes.Equal(s, bytes.Repeat([]byte{0xff}, 8)) {
				t.Errorf("section of %x octets", s)
			}
			comments = append(comments, ours)
		case enhanced, obsolete, simple:
			comments = append(comments, ours)
		}
	}
	return comments
}

// builder writes blocks.
type builder struct {
	order order
	out   []byte
}

func (w *builder) block(kind uint32, body ...[]byte) {
	b := slices.Concat(body...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	n := uint32(len(b) + 12)
	w.out = w.order.AppendUint32(w.out, kind)
	w.out = w.order.AppendUint32(w.out, n)
	w.out = append(w.out, b...)
	w.out = w.order.AppendUint32(w.out, n)
}

// words are 32-bit words.
func (w *builder) words(vs ...uint32) (b []byte) {
	for _, v := range vs {
		b = w.order.AppendUint32(b, v)
	}
	return b
}

func (w *builder) option(code uint16, value string) []byte {
	b := w.order.AppendUint16(nil, code)
	b = w.order.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func (w *builder) section(options ...[]byte) {
	w.block(section, w.words(0x1a2b3c4d), w.order.AppendUint16(w.order.AppendUint16(nil, 1), 0), w.order.AppendUint64(nil, 123456), slices.Concat(options...))
}

func (w *builder) iface(options ...[]byte) {
	w.block(1, w.order.AppendUint16(nil, 1), []byte{0, 0}, w.words(0), slices.Concat(options...))
}

// packet writes an Enhanced or an obsolete Packet Block. ticks are those of the interface.
func (w *builder) packet(kind, iface uint32, ticks int64, data []byte, options ...[]byte) {
	n := uint32(len(data))
	padded := append(slices.Clone(data), make([]byte, (4-n%4)%4)...)
	head := w.words(iface)
	if kind == obsolete {
		head = w.order.AppendUint16(w.order.AppendUint16(nil, uint16(iface)), 7) // drops
	}
	w.block(kind, head, w.words(uint32(ticks>>32), uint32(ticks), n, n), padded, slices.Concat(options...))
}

// TestStripped: what the other tests rely on finds a difference.
func TestStripped(t *testing.T) {
	w := builder{order: binary.BigEndian}
	w.section()
	w.iface()
	w.packet(enhanced, 0, 1, []byte("abcde"), w.option(1, "theirs"))
	b := blocksOf(t, w.out)
	if ours, rest := b[2].parted(&b[2]); ours != nil || !bytes.Equal(rest, b[2].all) {
		t.Errorf("%q %x", ours, rest)
	}
	v := builder{order: binary.BigEndian}
	v.packet(enhanced, 0, 1, []byte("abcde"), v.option(1, "theirs"), v.option(1, "iwdissect: ours"))
	other := blocksOf(t, slices.Concat(w.out[:len(w.out)-len(b[2].all)], v.out))
	if ours, rest := other[2].parted(&b[2]); fmt.Sprint(ours) != "[iwdissect: ours]" || !bytes.Equal(rest, b[2].all) {
		t.Errorf("%q %x", ours, rest)
	}
}
