package pcapng

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// ngBlock is a block of pcapng.
func ngBlock(order binary.AppendByteOrder, kind uint32, body []byte) []byte {
	n := uint32(minBlock + len(body))
	b := order.AppendUint32(order.AppendUint32(nil, kind), n)
	return order.AppendUint32(append(b, body...), n)
}

// ngStatistics is an Interface Statistics Block with counts of dropped packets.
func ngStatistics(order binary.AppendByteOrder, iface uint32, ifDrop, osDrop uint64) []byte {
	b := append(order.AppendUint32(nil, iface), make([]byte, 8)...)
	for _, o := range []struct {
		code uint16
		n    uint64
	}{{4, 1000}, {5, ifDrop}, {7, osDrop}} {
		b = order.AppendUint64(order.AppendUint16(order.AppendUint16(b, o.code), 8), o.n)
	}
	return ngBlock(order, blockStatistics, b)
}

// TestReader_Lost: of several counts of an interface the last one counts; those of interfaces and
// sections are added; what cannot be read is passed over.
func TestReader_Lost(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		section := ngBlock(order, blockSection, append(order.AppendUint32(nil, orderMagic), []byte{0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}...))
		order.AppendUint16(section[:12], 1)
		iface := ngBlock(order, blockInterface, []byte{0, 0, 0, 0, 0, 0, 0, 0})
		var file []byte
		for _, b := range [][]byte{
			section, iface, iface, ngStatistics(order, 0, 1, 2), ngStatistics(order, 0, 3, 5), ngStatistics(order, 1, 10, 0), ngStatistics(order, 2, 100, 100),
			ngBlock(order, blockStatistics, []byte{0, 0, 0, 0}),
			section, iface, ngStatistics(order, 0, 1000, 1<<64-3),
			section, iface, ngStatistics(order, 0, 1<<64-1, 1<<64-1), // not known
		} {
			file = append(file, b...)
		}
		r, err := NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Next(new(Record)); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		if got := (Lost{1013, 1<<64 - 1}); r.Lost() != got {
			t.Errorf("%v: %+v, want %+v", order, r.Lost(), got)
		}
	}
}
