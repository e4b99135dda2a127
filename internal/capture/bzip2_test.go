package capture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/bits"
	"runtime"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// bzip2Block is how many octets the tests put into a block: a sort of its rotations is quick.
const bzip2Block = 9000

// bzip2Writer compresses with bzip2, which the standard library only reads. It writes blocks with codes
// of the same length, and so makes larger files than the program does.
type bzip2Writer struct {
	out io.Writer
	in  bytes.Buffer
}

func (z *bzip2Writer) Write(b []byte) (int, error) { return z.in.Write(b) }

func (z *bzip2Writer) Close() error {
	w := &bitWriter{}
	w.put(0x425a6831, 32) // BZh1
	sum := uint32(0)
	for z.in.Len() > 0 {
		block := z.in.Next(bzip2Block)
		crc := bzip2CRC(block)
		sum = bits.RotateLeft32(sum, 1) ^ crc
		w.put(0x314159265359, 48)
		w.put(uint64(crc), 32)
		w.put(0, 1) // not randomised
		w.block(shortened(block))
	}
	w.put(0x177245385090, 48)
	w.put(uint64(sum), 32)
	w.put(0, -w.n&7)
	_, err := z.out.Write(w.b)
	return err
}

// bzip2CRC is the CRC with the bits of each octet in the other order.
func bzip2CRC(b []byte) uint32 {
	b = bytes.Clone(b)
	for i := range b {
		b[i] = bits.Reverse8(b[i])
	}
	return bits.Reverse32(crc32.ChecksumIEEE(b))
}

// shortened has four octets and a count in the place of runs.
func shortened(b []byte) (out []byte) {
	for i := 0; i < len(b); {
		n := 1
		for i+n < len(b) && n < 4+255 && b[i+n] == b[i] {
			n++
		}
		out = append(out, b[i:i+min(n, 4)]...)
		if n >= 4 {
			out = append(out, byte(n-4))
		}
		i += n
	}
	return out
}

// bitWriter writes the first bit of an octet first.
type bitWriter struct {
	b []byte
	n int // bits
}

func (w *bitWriter) put(v uint64, n int) {
	for i := n - 1; i >= 0; i-- {
		if w.n&7 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n>>3] |= byte(v>>i&1) << (7 - w.n&7)
		w.n++
	}
}

// block writes what follows the CRC of a block.
func (w *bitWriter) block(b []byte) {
	twice := append(bytes.Clone(b), b...)
	order := make([]int, len(b))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return bytes.Compare(twice[x:x+len(b)], twice[y:y+len(b)]) })
	w.put(uint64(slices.Index(order, 0)), 24)
	var used []byte
	for v := range 256 {
		if bytes.IndexByte(b, byte(v)) >= 0 {
			used = append(used, byte(v))
		}
	}
	for range 16 {
		w.put(1, 1) // all ranges of 16 octets have a map
	}
	for v := range 256 {
		w.put(uint64(bytes.Count(used, []byte{byte(v)})), 1)
	}
	var symbols []int
	zeros := 0
	flush := func() {
		for ; zeros > 0; zeros = (zeros - 1) / 2 {
			symbols = append(symbols, (zeros-1)&1)
		}
	}
	end := len(used) + 1
	for _, i := range order {
		last := twice[i+len(b)-1]
		at := bytes.IndexByte(used, last)
		copy(used[1:at+1], used[:at])
		used[0] = last
		if at == 0 {
			zeros++
			continue
		}
		flush()
		symbols = append(symbols, at+1)
	}
	flush()
	w.coded(append(symbols, end), end+1)
}

// coded writes two equal tables, and the symbols. The first codes are one bit shorter.
func (w *bitWriter) coded(symbols []int, kinds int) {
	length := bits.Len(uint(kinds - 1))
	short := 1<<length - kinds
	groups := (len(symbols) + 49) / 50
	w.put(2, 3)
	w.put(uint64(groups), 15)
	w.put(0, groups) // each uses the first table
	for range 2 {
		now := length
		if short > 0 {
			now--
		}
		w.put(uint64(now), 5)
		for i := range kinds {
			if i == short && short > 0 {
				w.put(0b10, 2)
			}
			w.put(0, 1)
		}
	}
	for _, s := range symbols {
		if s < short {
			w.put(uint64(s), length-1)
		} else {
			w.put(uint64(short+s), length)
		}
	}
}

// TestFile_Bzip2BombDoesNotGrow: as with other compressions, memory does not depend on what comes out. The
// file is many streams, one behind the other.
func TestFile_Bzip2BombDoesNotGrow(t *testing.T) {
	file := captureFile(t, pcapng.PCAP, 1)[:24]
	record := make([]byte, 16+60_000)
	binary.LittleEndian.PutUint32(record[8:], 60_000)
	binary.LittleEndian.PutUint32(record[12:], 60_000)
	packed := compress(t, compressors[bzip2At].via, file)
	one := compress(t, compressors[bzip2At].via, record)
	for range 1000 {
		packed = append(packed, one...)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open(stdinName, bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var fr Frame
	n := 0
	for ; err == nil; n++ {
		err = f.Next(&fr)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err != io.EOF || n != 1001 || got > 20<<20 {
		t.Errorf("%d frames, %d octets allocated, %v", n, got, err)
	}
}
