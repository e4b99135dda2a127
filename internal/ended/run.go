package ended

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// run is a number of packed records, in the order of their numbers.
type run struct {
	// data is the compressed stream of the records: for each its length in octets, as a
	// varint, and what the codec made of it.
	data []byte
	// sides are those of the SCTP associations of each record, nil if no record has any.
	// Sessions of an association share them, and they change until it ends.
	sides [][2]*trace.SCTPSide
	// weight is how many octets the records took.
	weight int
}

// packer packs records.
type packer struct {
	flat *flate.Writer
	out  bytes.Buffer
	one  []byte
	size []byte
}

func newPacker() *packer {
	p := new(packer)
	p.flat, _ = flate.NewWriter(&p.out, flate.BestSpeed) // the level is right
	return p
}

func (p *packer) pack(r *run, cs []*trace.Connection) {
	slices.SortStableFunc(cs, byNumber)
	p.out.Reset()
	p.flat.Reset(&p.out)
	encode := records().encode
	for i, c := range cs {
		own := *c
		for d := range own.Side {
			if s := own.Side[d].SCTP; s != nil {
				if r.sides == nil {
					r.sides = make([][2]*trace.SCTPSide, len(cs))
				}
				r.sides[i][d], own.Side[d].SCTP = s, nil
			}
		}
		p.one = encode(p.one[:0], reflect.ValueOf(&own).Elem())
		p.size = binary.AppendUvarint(p.size[:0], uint64(len(p.one)))
		p.write(p.size)
		p.write(p.one)
	}
	if err := p.flat.Close(); err != nil {
		panic(fmt.Sprintf("ended: %v", err)) // memory takes what is written
	}
	r.data = bytes.Clone(p.out.Bytes())
}

func (p *packer) write(b []byte) {
	if _, err := p.flat.Write(b); err != nil {
		panic(fmt.Sprintf("ended: %v", err)) // see pack
	}
}

// source yields records in the order of their numbers: plain ones, or those of a run.
type source struct {
	next  *trace.Connection
	plain []*trace.Connection
	run   *run
	in    *bufio.Reader
	one   []byte
	read  int // records of the run
}

// source returns what reads the records of the run.
func (r *run) source() *source {
	return &source{run: r, in: bufio.NewReader(flate.NewReader(bytes.NewReader(r.data)))}
}

// advance makes the next record the one after it, and reports whether there is one.
func (s *source) advance() bool {
	if s.run == nil {
		if len(s.plain) == 0 {
			return false
		}
		s.next, s.plain = s.plain[0], s.plain[1:]
		return true
	}
	n, err := binary.ReadUvarint(s.in)
	if err == io.EOF { //nolint:errorlint // of a reader in memory
		return false
	}
	s.one = slices.Grow(s.one[:0], int(n))[:n] //nolint:gosec // a length
	if err == nil {
		_, err = io.ReadFull(s.in, s.one)
	}
	if err != nil {
		panic(fmt.Sprintf("ended: %v", err)) // nothing but this package writes it
	}
	c := new(trace.Connection)
	records().decode(&reader{s.one}, reflect.ValueOf(c).Elem())
	if s.run.sides != nil {
		for d, side := range s.run.sides[s.read] {
			c.Side[d].SCTP = side
		}
	}
	s.read++
	s.next = c
	return true
}
