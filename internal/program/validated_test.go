package program

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/schematest"
)

// validatorAddress names, in the environment of the program, the socket on which the test validates what it
// writes.
const validatorAddress = "VALIDATOR_SOCKET"

// invalid is the exit code of an output that is not as its schema says.
const invalid = 99

// A written is what the program tells the test: first how it was called, then octets that it printed, and at its
// end nothing.
type written struct {
	Args   []string
	Folder string
	Octets []byte
}

// validated runs a program, and everything that it writes for other programs is held against the schemas of
// docs/schema. The test does that: the program is in its sandbox and reads no other files. If one does
// not fit, the program ends with a code of its own.
func validated(program func() int) {
	address := os.Getenv(validatorAddress)
	// A terminal or a file is something that the program looks at.
	if info, err := os.Stdout.Stat(); address == "" || err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		os.Exit(program())
	}
	os.Exit(told(address, program))
}

// misprints is a program whose output is not as its schema says: a script holds that this is found.
func misprints() int {
	fmt.Println(misprint)
	return 0
}

const misprint = `{"schema":"iwdissect/1","interfaces":[],"nothing":1}`

// told runs the program, and tells the test what it writes.
func told(address string, program func() int) int {
	conn, err := net.Dial("unix", address)
	if err != nil {
		panic(err)
	}
	folder, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	test, printed := gob.NewEncoder(conn), os.Stdout
	if err := test.Encode(written{Args: os.Args, Folder: folder}); err != nil {
		panic(err)
	}
	read := make(chan bool)
	go func() {
		_, err := io.Copy(printed, io.TeeReader(r, octets{test}))
		r.Close() // if nobody reads on, the program has to see it
		read <- err == nil
	}()
	os.Stdout = w
	code := program()
	w.Close()
	if !<-read {
		return code
	}
	var complaint string
	if err := errors.Join(test.Encode(written{}), gob.NewDecoder(conn).Decode(&complaint)); err != nil {
		complaint = err.Error()
	}
	if complaint != "" {
		fmt.Fprintln(os.Stderr, complaint)
		return invalid
	}
	return code
}

// octets tells the test of what is printed.
type octets struct{ test *gob.Encoder }

// Write implements [io.Writer].
func (o octets) Write(p []byte) (int, error) { return len(p), o.test.Encode(written{Octets: p}) }

// startValidator starts what validates the outputs of programs, and returns the address of its socket.
func startValidator(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s")) // an address has a hundred octets at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go validate(conn)
		}
	}()
	return l.Addr().String()
}

// validate takes what a program prints and, when it has ended, answers what is wrong with that and with the files of
// its outputs.
func validate(conn net.Conn) {
	defer conn.Close()
	program := gob.NewDecoder(conn)
	var call written
	if program.Decode(&call) != nil {
		return
	}
	var printed bytes.Buffer
	for {
		var w written
		if program.Decode(&w) != nil {
			return // it was killed
		}
		if len(w.Octets) == 0 {
			break
		}
		printed.Write(w.Octets)
	}
	var complaints []string
	for _, text := range append(outputs(call), printed.Bytes()) {
		if err := schematest.Output(text); err != nil {
			complaints = append(complaints, fmt.Sprintf("not as docs/schema says: %v", err))
		}
	}
	_ = gob.NewEncoder(conn).Encode(strings.Join(complaints, "\n")) // without an answer the program fails
}

// outputs reads the files that the arguments of a call name as outputs.
func outputs(call written) (texts [][]byte) {
	for i, arg := range call.Args {
		flag, file, _ := strings.Cut(arg, "=")
		if file == "" && i+1 < len(call.Args) {
			file = call.Args[i+1]
		}
		if flag == "--output" {
			if _, name, ok := strings.Cut(file, "="); ok {
				file = name
			}
		} else if flag != "--write-baseline" {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(call.Folder, file)
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue // a device never ends
		}
		if text, err := os.ReadFile(file); err == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// TestValidated: an output that is not as its schema says makes the program fail, on standard output and in a file,
// and one that is leaves its exit code alone.
func TestValidated(t *testing.T) {
	address := startValidator(t)
	folder := t.TempDir()
	args, stdout := os.Args, os.Stdout
	t.Cleanup(func() { os.Args, os.Stdout = args, stdout })
	const right = `{"schema":"iwdissect/1","interfaces":[]}`
	for name, c := range map[string]struct {
		printed, file string
		code          int
	}{
		"for people":      {"nothing for a program\n", "", 3},
		"right":           {right, right, 3},
		"wrong":           {misprint, "", invalid},
		"wrong in a file": {"", misprint, invalid},
		"text in a file":  {"", "text", 3},
	} {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(folder, name)
		os.Args, os.Stdout = []string{"iwdissect", "check", "--output", "json=" + out}, null
		code := told(address, func() int {
			fmt.Print(c.printed)
			if err := os.WriteFile(out, []byte(c.file), 0o600); err != nil {
				t.Error(err)
			}
			return 3
		})
		null.Close()
		if code != c.code {
			t.Errorf("%s: exit code %d, not %d", name, code, c.code)
		}
	}
}
