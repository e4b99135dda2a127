package capture

import (
	"bufio"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"
	"runtime"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// compression is how a file is compressed.
type compression string

const (
	plain compression = ""
	gzipC compression = "gzip"
	bzipC compression = "bzip2"
	zstdC compression = "zstd"
	lz4C  compression = "lz4"
)

const (
	sniffN = 4 // octets that tell compressions apart

	// zstdWindow is the largest window that is decoded, in octets, and with
	// that the bound of the decoder's memory. It is the default limit of the
	// zstd program: what that reads without special flags can be read here.
	zstdWindow = 128 << 20

	// zstdThreads is how many blocks are decoded at the same time at most.
	zstdThreads = 4

	// compressedBuffer is the size of a read of compressed octets.
	compressedBuffer = 64 << 10
)

// compressionOf tells the compression by the first octets of a file.
func compressionOf(head []byte) compression {
	if len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b {
		return gzipC
	}
	if len(head) < sniffN {
		return plain
	}
	if string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' {
		return bzipC
	}
	switch magic := binary.LittleEndian.Uint32(head); {
	case magic == 0xfd2fb528,
		// A skippable frame: parallel compressors of zstd start with one.
		magic&^0xf == 0x184d2a50:
		return zstdC
	case magic == 0x184d2204, magic == 0x184c2102: // frame, legacy frame
		return lz4C
	}
	return plain
}

// decompressor reads what src holds. Errors of the decompression, and
// only those, are a *decompressError. close frees it and may be nil.
func decompressor(kind compression, src io.Reader) (r io.Reader, closer func(), err error) {
	if kind == plain {
		return src, nil, nil
	}
	in := &tellingReader{src: src}
	buf := bufio.NewReaderSize(in, compressedBuffer)
	out := &decompressing{kind: kind, in: in}
	switch kind {
	case gzipC:
		z, err := gzip.NewReader(buf)
		if err != nil {
			return nil, nil, out.wrap(err)
		}
		out.r = z
	case zstdC:
		z, err := zstd.NewReader(buf, zstd.WithDecoderConcurrency(min(runtime.GOMAXPROCS(0), zstdThreads)), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, nil, out.wrap(err)
		}
		out.r, closer = z, z.Close
	case bzipC:
		out.r = bzip2.NewReader(buf) // it keeps a block, which has 900,000 octets at most
	case lz4C:
		out.r = lz4.NewReader(buf)
	case plain:
	}
	return out, closer, nil
}

// decompressError tells that compressed data could not be decoded.
type decompressError struct {
	kind compression
	err  error
}

func (e *decompressError) Error() string {
	return string(e.kind) + " data: " + e.err.Error()
}

func (e *decompressError) Unwrap() error { return e.err }

// decompressing marks the errors of a decompressor.
type decompressing struct {
	r    io.Reader
	kind compression
	in   *tellingReader
}

func (d *decompressing) Read(b []byte) (int, error) {
	n, err := d.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = d.wrap(err)
	}
	return n, err
}

// wrap leaves an error of the source below alone: a failing disk is no damage
// of the data.
func (d *decompressing) wrap(err error) error {
	if d.in.err != nil {
		return d.in.err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if bad := bzip2.StructuralError(""); errors.As(err, &bad) {
		err = errors.New(string(bad)) // it would name bzip2 twice
	}
	return &decompressError{kind: d.kind, err: err}
}

// tellingReader remembers the error of its source.
type tellingReader struct {
	src io.Reader
	err error // never io.EOF
}

func (t *tellingReader) Read(b []byte) (int, error) {
	n, err := t.src.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}
