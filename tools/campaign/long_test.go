package main

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestLong: tests that ask for a campaign, or may be skipped, are found, those that ask by a function, a method or a
// variable of another file too, and no others.
func TestLong(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package p\n" + s)} }
	root := fstest.MapFS{
		"a/a_test.go": text(`
func TestCount(t *testing.T) { for range tracetest.Count(1, 2, 3) {} }
func TestByFunction(t *testing.T) { compare(t) }
func TestByVariable(t *testing.T) { t.Log(where) }
func TestSkipped(t *testing.T) { if !linux { t.Skip("no Linux") } }
func TestShort(t *testing.T) { tracetest.Sends(t) }
func TestPager(t *testing.T) { t.Setenv("IWDISSECT_PAGER", "cat") }
func TestMain(m *testing.M) { os.Getenv("IWDISSECT_CAMPAIGN") }
func FuzzNothing(f *testing.F) { compare(f) }
`),
		"a/b_test.go": text(`
var where = os.Getenv("IWDISSECT_CAPTURES")
func compare(t testing.TB) { new(other).run() }
func (*other) run() { more.Outside() }
`),
		"tracetest/a.go": text(`
func Count(a, b, c int) int { if Campaign() { return b }; return a }
func Campaign() bool { return os.Getenv("IWDISSECT_CAMPAIGN") != "" }
func Sends() {}
`),
		"tracetest/more/a.go":  text(`func Outside() { tracetest.Campaign() }`),
		"live/livetest/a.go":   text(`func Any() { os.Getenv("IWDISSECT_LIVE_TESTS") }`),
		"a/a.go":               text(`func TestIsNoTest() { more.Outside() }`),
		"short/a_test.go":      text(`func TestOnlyShort(t *testing.T) {}`),
		"live/a_test.go":       text(`func TestLive(t *testing.T) { livetest.Any() }`),
		"left/out/a_test.go":   text(`func TestLeftOut(t *testing.T) { livetest.Any() }`),
		"a/testdata/a_test.go": text(`func TestData(t *testing.T) { livetest.Any() }`),
	}
	found, err := long(root, []string{"left/out"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"TestByFunction", "TestByVariable", "TestCount", "TestLive", "TestSkipped"}; !slices.Equal(found.tests, want) {
		t.Errorf("the tests are %v, not %v", found.tests, want)
	}
	if want := []string{"a", "live"}; !slices.Equal(found.packages, want) {
		t.Errorf("the packages are %v, not %v", found.packages, want)
	}
	if _, err := long(fstest.MapFS{"short/a_test.go": root["short/a_test.go"]}, nil); err == nil {
		t.Error("where no test has a long form there is no error: the campaign would test nothing")
	}
}
