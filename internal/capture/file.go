package capture

import (
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// stdinName is the path that stands for standard input.
const stdinName = "-"

// large is the size in octets from which a regular file is worth a goroutine that reads
// it ahead: a smaller one is done before it would pay.
const large = 1 << 20

// File is one capture file. Only Progress may be called from another
// goroutine.
type File struct {
	name   string
	r      *pcapng.Reader
	format string
	size   int64     // of a regular file, in octets
	waits  bool      // see [File.Waits]
	free   func()    // of the decompressor, may be nil
	closer io.Closer // nil for standard input
	prog   *progress
	// recounted: see [File.Recount]. frames are those so far.
	recounted bool
	frames    uint64
}

// progress is shared by the files of a joined set.
type progress struct {
	done, total atomic.Int64
}

// Open opens a capture file, or standard input if path is "-". The error is an
// [*Error] and tells an empty file, a directory and anything that is no
// capture apart.
func Open(path string, stdin io.Reader) (*File, error) {
	p := &progress{}
	p.total.Store(sizeOf(path, stdin))
	return open(path, stdin, p)
}

// sizeOf is the size of an input in octets, 0 if it is not known before it was
// read.
func sizeOf(path string, stdin io.Reader) int64 {
	if r := reached(path); r != nil {
		return r.Size(path)
	}
	var info os.FileInfo
	var err error
	if path == stdinName {
		f, ok := stdin.(*os.File)
		if !ok {
			return 0
		}
		info, err = f.Stat()
	} else {
		info, err = os.Stat(path)
	}
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

func open(path string, stdin io.Reader, p *progress) (*File, error) {
	f := &File{name: path, prog: p}
	src := stdin
	if path != stdinName {
		file, size, err := openNamed(path)
		if err != nil {
			return nil, &Error{File: path, Code: CodeOpen, Err: bare(err)}
		}
		f.closer, src, f.size = file, file, size
	}
	if src == nil {
		return nil, &Error{File: path, Code: CodeOpen, Err: errors.New("not given")}
	}
	if d, ok := src.(*os.File); ok {
		info, err := d.Stat()
		if err == nil && info.IsDir() {
			_ = f.Close()
			return nil, &Error{File: path, Code: CodeDirectory, Err: errors.New("is a directory")}
		}
		if err == nil && info.Mode().IsRegular() {
			f.size = info.Size()
		}
		f.waits = err == nil && !info.Mode().IsRegular()
		if f.waits && info.Mode()&os.ModeNamedPipe != 0 {
			widen(d)
		}
	}
	if err := f.start(src); err != nil {
		_ = f.Close()
		return nil, wrap(path, err)
	}
	return f, nil
}

// start looks at the first octets and sets up the readers.
func (f *File) start(src io.Reader) error {
	in := &input{src: src, prog: f.prog}
	in.n, in.err = io.ReadFull(&patient{src, 0}, in.head[:])
	if errors.Is(in.err, io.ErrUnexpectedEOF) {
		in.err = io.EOF
	}
	kind := compressionOf(in.head[:in.n])
	r, free, err := decompressor(kind, in)
	if err != nil {
		// Of the reader that fails in its first header.
		return &pcapng.Error{Code: pcapng.CodeRead, Err: err}
	}
	f.free = free
	if f.r, err = pcapng.NewReader(r); err != nil {
		return err
	}
	f.format = f.r.Format().String()
	if kind != plain {
		f.format += " (" + string(kind) + ")"
	}
	return nil
}

// input gives the octets that were looked at once more, and counts.
type input struct {
	src  io.Reader
	prog *progress
	head [sniffN]byte
	i, n int   // head[i:n] is still to be given
	err  error // that came with the head
}

func (in *input) Read(b []byte) (int, error) {
	if in.i < in.n {
		n := copy(b, in.head[in.i:in.n])
		in.i += n
		in.prog.done.Add(int64(n))
		return n, nil
	}
	if in.err != nil {
		return 0, in.err
	}
	n, err := in.src.Read(b)
	in.prog.done.Add(int64(n))
	return n, err
}

// Large reports whether the file is a regular one that is worth a goroutine that reads it
// ahead.
func (f *File) Large() bool { return f.size >= large }

// Lend has frames read into buffers that lend gives, see [pcapng.Reader.Lend].
func (f *File) Lend(lend func(done []byte) []byte) { f.r.Lend(lend) }

// Waits reports whether a read may wait for what is still to come, as with a pipe. What came
// before should not be held back then; see Before.
func (f *File) Waits() bool { return f.waits }

// Before has a function called before more is read, see [pcapng.Reader.Before].
func (f *File) Before(call func() bool) { f.r.Before(call) }

// After has a function called when more was read, see [pcapng.Reader.After].
func (f *File) After(call func()) { f.r.After(call) }

// KeepComments asks for [Frame.Comments], which costs allocations.
func (f *File) KeepComments(keep bool) { f.r.KeepComments = keep }

// Next reads the next frame. It returns io.EOF at the end, else an [*Error].
func (f *File) Next(fr *Frame) error {
	if err := f.r.Next(fr); err != nil {
		if errors.Is(err, io.EOF) {
			return err
		}
		return wrap(f.name, err)
	}
	if f.recounted {
		f.frames++
		fr.Number = f.frames
	}
	return nil
}

// Recount has frames counted as in a copy of the file: those that are damaged, and left out, take no
// number. Errors still name the place in the file.
func (f *File) Recount() { f.recounted = true }

// DataPos is the octet position in the file of the data of the frame that was read last. ok is
// false if the file is compressed or no regular one: then it has no such place.
func (f *File) DataPos(fr *Frame) (pos int64, ok bool) {
	return f.r.DataPos(fr), f.size > 0 && f.format == f.r.Format().String()
}

// Reader is the reader of the file's records, for those who copy them.
func (f *File) Reader() *pcapng.Reader { return f.r }

// Name is the path as given, "-" for standard input.
func (f *File) Name() string { return f.name }

// Format names the format and, in parentheses, the compression: "pcap",
// "pcapng (gzip)".
func (f *File) Format() string { return f.format }

// Interfaces returns the interfaces of the section that is read; see
// [pcapng.Reader.Interfaces].
func (f *File) Interfaces() []pcapng.Interface { return f.r.Interfaces() }

// Lost counts the packets that the capture lost before they were written, as far as the file
// was read.
func (f *File) Lost() Lost { return f.r.Lost() }

// Progress tells how many octets of the file, as compressed, were read, and
// its size; total is 0 if that is not known. It may be called from any
// goroutine.
func (f *File) Progress() (done, total int64) {
	return f.prog.done.Load(), f.prog.total.Load()
}

// Close closes the file; standard input is left open.
func (f *File) Close() error {
	if f.free != nil {
		f.free()
		f.free = nil
	}
	if f.closer == nil {
		return nil
	}
	err := f.closer.Close()
	f.closer = nil
	if err != nil {
		return &Error{File: f.name, Code: pcapng.CodeRead, Err: bare(err)}
	}
	return nil
}
