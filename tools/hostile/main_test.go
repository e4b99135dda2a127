package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/tools/hostile/internal/attack"
	"github.com/iwdissect/iwdissect/tools/hostile/internal/measure"
	"github.com/iwdissect/iwdissect/tools/internal/messy"
)

// TestMain makes the test the program that it measures.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(program())
	}
	os.Exit(m.Run())
}

// TestAttacks: each attack keeps its bounds; a plain go test tries some of them.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	c, err := newChecker(t.Context(), t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	quick := map[string]bool{"sections": true}
	for _, a := range attack.All() {
		if a.Open != "" || !tracetest.Campaign() && !quick[a.Name] {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			r, err := c.attack(t.Context(), &a)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r.row())
			if err := r.wrong(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAddressLimit: where addresses are scarce, memory is given up, and the process does not end as if
// it had been used wrongly. Go takes more than half of these itself.
func TestAddressLimit(t *testing.T) {
	if !tracetest.Campaign() || runtime.GOOS != "linux" {
		t.Skip("it takes the address limit of Linux, and much of it: only in a campaign")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, ok := attack.Find("holes")
	path := filepath.Join(t.TempDir(), "holes.pcap")
	if err := file(path, func(w io.Writer) error { return a.Write(w, 20_000) }); err != nil || !ok {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -v 2000000; exec "$0" analyze -j 1 "$1"`, self, path)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte("To bound memory, ")) {
		t.Errorf("%v, %d octets", err, len(out))
	}
}

// TestResult_Wrong: each bound is told when it does not hold, and none when all do.
func TestResult_Wrong(t *testing.T) {
	const ms = time.Millisecond
	good := func() *result {
		r := &result{
			Attack: &attack.Attack{Name: "it", Bound: attack.Bound{Octet: 10, Memory: 100}, Exit: 1}, octet: 9,
			pair: measure.Pair{One: measure.Cost{Processor: 500 * ms, Exit: 1}, Two: measure.Cost{Processor: 1100 * ms, Exit: 1}},
			own:  measure.Cost{Exit: 1}, memory: 99,
		}
		return r
	}
	for want, change := range map[string]func(*result){
		"":                         func(*result) {},
		"times the work, more":     func(r *result) { r.pair.Two.Processor = 1200 * ms },
		"than 10":                  func(r *result) { r.octet = 10.1 },
		"101 MB, more than 100":    func(r *result) { r.memory = 101 },
		"exit code 2, want 1: oom": func(r *result) { r.own.Exit, r.own.Said = 2, "oom" },
	} {
		r := good()
		change(r)
		r.within = r.pair.Within(attack.Growth, 10*ms)
		err := r.wrong()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestMessy: in messy captures nothing is found that the whole ones do not have, and with CRCs
// or SCTP all that they have is found.
func TestMessy(t *testing.T) {
	for _, seed := range []uint64{1, 10}[:tracetest.Count(1, 2, 2)] {
		for _, kind := range messy.Kinds(seed) {
			all, err := messy.Compare(kind, messy.All(), seed)
			if err != nil {
				t.Fatal(err)
			}
			for i := range all {
				recovered := kind.Recovered
				if all[i].Mess.Name == "server-late" || all[i].Mess.Name == "some" {
					recovered *= 0.99 // of a stream that begins anywhere, the first FPDU may not be proven
				}
				held(t, fmt.Sprintf("%s, %s, seed %d", kind.Name, all[i].Mess.Name, seed), &all[i], recovered)
			}
		}
	}
}

// TestMessy_Taps: a chunk of session control that only the second tap saw comes behind those that
// the first one saw, and breaks no rule. With these seeds it did.
func TestMessy_Taps(t *testing.T) {
	for _, seed := range []uint64{4, 7, 8} {
		for _, kind := range messy.Kinds(seed) {
			if kind.Name != "sctp" {
				continue
			}
			taps := slices.DeleteFunc(messy.All(), func(m messy.Mess) bool { return m.Name != "taps" })
			all, err := messy.Compare(kind, taps, seed)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != 1 {
				t.Fatalf("%d results", len(all))
			}
			held(t, fmt.Sprintf("seed %d", seed), &all[0], kind.Recovered)
		}
	}
}

// held fails if something false was found, or too little.
func held(t *testing.T, name string, r *messy.Result, recovered float64) {
	t.Helper()
	if r.Sent < 1000 {
		t.Fatalf("%s: only %d FPDUs", name, r.Sent)
	}
	for _, s := range slices.Concat(r.Invented, r.Accused, r.Blamed) {
		t.Errorf("%s: %s", name, s)
	}
	if least := float64(r.Reach) * recovered; float64(r.Found.Whole) < least {
		t.Errorf("%s: %d FPDUs are found whole, %d of %d were captured", name, r.Found.Whole, r.Reach, r.Sent)
	}
}

// TestRun: the list has all, make writes what the attack writes, and wrong words are told.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, []string{"list"}); err != nil {
		t.Fatal(err)
	}
	for _, a := range attack.All() {
		if !strings.Contains(out.String(), a.Name+" ") {
			t.Errorf("%s is not listed", a.Name)
		}
	}
	path := filepath.Join(t.TempDir(), "a.pcap")
	if err := run(t.Context(), &out, []string{"make", "-n", "10", "syns", path}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if fs, err := tracetest.ReadFile(got); err != nil || len(fs) != 10 {
		t.Errorf("%d frames, %v", len(fs), err)
	}
	for _, args := range [][]string{{"make", "nothing", path}, {"make", "syns"}, {"check", "nothing"}, {"messy", "nothing"}} {
		if err := run(t.Context(), &out, args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
