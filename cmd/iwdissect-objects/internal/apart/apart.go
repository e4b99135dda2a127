// Package apart fetches objects in a process of its own, and asks it for their octets through a
// pair of pipes. The process that dissects them has no sockets and stays in its sandbox; the one
// that has, decodes no captures.
package apart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"sync"

	"github.com/iwdissect/iwdissect/cmd/iwdissect-objects/internal/fetch"
)

// Argument is that of the program with which it fetches objects. It is no command for users.
const Argument = "__fetch"

// Fetch is the process that fetches objects. It ends when the other one has ended, and returns an
// exit code.
func Fetch() int {
	// Ctrl-C is for the process that dissects, which may still read what came.
	signal.Ignore(os.Interrupt)
	c, err := fetch.New(fetch.Options{})
	s := &Server{client: c, failed: err, open: map[uint64]io.ReadCloser{}}
	if err := serve(s, pipes{os.Stdin, os.Stdout}); err != nil {
		return 1
	}
	return 0
}

// pipes are a connection.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// serviceName is that of the Server in calls.
const serviceName = "Objects"

func serve(s *Server, conn io.ReadWriteCloser) error {
	r := rpc.NewServer()
	if err := r.RegisterName(serviceName, s); err != nil {
		return err
	}
	r.ServeConn(conn)
	return nil
}

// Objects reads objects by the other process, which starts with the first URL. It is a
// capture.Remote.
type Objects struct {
	start func() (io.ReadWriteCloser, error)

	once   sync.Once
	client *rpc.Client
	failed error
}

// New returns one that starts this program once more.
func New() *Objects { return &Objects{start: startSelf} }

func startSelf() (io.ReadWriteCloser, error) {
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, Argument)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return pipes{out, in}, nil
}

// call asks the other process.
func (o *Objects) call(method string, args, reply any) error {
	o.once.Do(func() {
		conn, err := o.start()
		if err != nil {
			o.failed = fmt.Errorf("the process that fetches objects does not start: %w", err)
			return
		}
		o.client = rpc.NewClient(conn)
	})
	if o.failed != nil {
		return o.failed
	}
	err := o.client.Call(serviceName+"."+method, args, reply)
	var told rpc.ServerError
	if err != nil && !errors.As(err, &told) {
		return fmt.Errorf("the process that fetches objects has ended: %w", err)
	}
	return err
}

// List returns the names of the objects that a URL stands for.
func (o *Objects) List(url string) []string {
	var names []string
	if err := o.call("List", url, &names); err != nil || len(names) == 0 {
		return []string{fetch.Name(url)} // opening it tells why
	}
	return names
}

// Size is the size of an object in octets, 0 if it is not known.
func (o *Objects) Size(name string) (n int64) {
	if err := o.call("Size", name, &n); err != nil {
		return 0
	}
	return n
}

// Open begins to read an object.
func (o *Objects) Open(name string) (io.ReadCloser, error) {
	r := &reader{o: o}
	return r, o.call("Open", name, &r.id)
}

// reader reads one object.
type reader struct {
	o   *Objects
	id  uint64
	cur []byte
	err error
}

func (r *reader) Read(b []byte) (int, error) {
	for len(r.cur) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		var c Chunk
		r.err = r.o.call("Read", r.id, &c)
		r.cur = c.Data
		if r.err == nil && c.End {
			r.err = io.EOF
		}
	}
	n := copy(b, r.cur)
	r.cur = r.cur[n:]
	return n, nil
}

func (r *reader) Close() error {
	r.err = os.ErrClosed
	return r.o.call("Close", r.id, new(bool))
}

// Server does what the other process is asked for.
type Server struct {
	client *fetch.Client
	failed error

	mu   sync.Mutex
	last uint64
	open map[uint64]io.ReadCloser
}

// Chunk is octets of an object.
type Chunk struct {
	Data []byte
	End  bool
}

// chunk is how many octets are sent at a time.
const chunk = 1 << 20

// List is [Objects.List].
func (s *Server) List(url string, names *[]string) error {
	if s.failed != nil {
		return s.failed
	}
	*names = s.client.List(context.Background(), url)
	return nil
}

// Size is [Objects.Size].
func (s *Server) Size(name string, n *int64) error {
	if s.failed == nil {
		*n = s.client.Size(context.Background(), name)
	}
	return s.failed
}

// Open is [Objects.Open].
func (s *Server) Open(name string, id *uint64) error {
	if s.failed != nil {
		return s.failed
	}
	r, err := s.client.Open(context.Background(), name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	*id = s.last
	s.open[s.last] = r
	return nil
}

func (s *Server) reader(id uint64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.open[id]; r != nil {
		return r, nil
	}
	return nil, os.ErrClosed
}

// Read gives the next octets of an object.
func (s *Server) Read(id uint64, c *Chunk) error {
	r, err := s.reader(id)
	if err != nil {
		return err
	}
	b := make([]byte, chunk)
	n, err := r.Read(b)
	c.Data = b[:n]
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		c.End, err = true, nil
	}
	if n > 0 {
		return nil // an error comes again
	}
	return err
}

// Close is the end of reading an object.
func (s *Server) Close(id uint64, _ *bool) error {
	r, err := s.reader(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.open, id)
	s.mu.Unlock()
	return r.Close()
}
