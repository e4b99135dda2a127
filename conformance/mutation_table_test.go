package conformance_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// The pages that the tests write.
const (
	tableFile = "../docs/mutation.md"
	cutFile   = "../docs/mutation-cut.md"
)

// checkPage requires that a page has the results of the tests.
func checkPage(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Error(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v): go test ./conformance -run TestMutation -update writes it", file, err)
	}
}

func mutationPage(all map[string]*yields) []byte {
	var rows, own, why strings.Builder
	var sum yields
	rules := 0
	for _, id := range slices.Sorted(maps.Keys(all)) {
		y := all[id]
		if y.own != "" {
			fmt.Fprintf(&own, "| %s | %s |\n", id, y.own)
			continue
		}
		rules++
		if y.Missed > 0 {
			fmt.Fprintf(&why, "| %s | %d | %s |\n", id, y.Missed, testOf(id).NotDetected)
		}
		row(&rows, id, y)
		sum.Mutants, sum.Found, sum.Elsewhere = sum.Mutants+y.Mutants, sum.Found+y.Found, sum.Elsewhere+y.Elsewhere
		sum.NotJudged, sum.Missed = sum.NotJudged+y.NotJudged, sum.Missed+y.Missed
	}
	row(&rows, fmt.Sprintf("all %d", rules), &sum)
	r := strings.NewReplacer("ROWS\n", rows.String(), "OWN\n", own.String(), "WHY\n", why.String(), "SEEDS", fmt.Sprint(usualMutants))
	return []byte(r.Replace(mutationText))
}

func row(b *strings.Builder, id string, y *yields) {
	told := y.Mutants - y.Missed - y.NotJudged
	fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d%% |\n", id, y.Mutants, y.Found, y.Elsewhere, y.NotJudged, y.Missed, 100*told/max(y.Mutants, 1))
}

const mutationText = `<!-- Written by go test ./conformance -run TestMutation -update; change conformance/mutation_table_test.go, not this. -->

# Mutations

Each rule that is checked has a scenario that breaks it. This test takes the fault of that scenario and commits it elsewhere: in random
scripts that are legal, with one or two connections of any dialect of MPA, with and without markers and CRC, over IPv4 and IPv6, over
TCP and SCTP, with segments of many sizes, over links that lose, repeat and reorder packets. A fault that concerns one message is moved
to a message of the script that is of the same kind, in either direction; another one takes its steps along and stands among
those of the script. The trace with the fault is compared with that of the same script without it.

    go test ./conformance -run TestMutation                           # one mutant of each rule
    IWDISSECT_CAMPAIGN=1 go test ./conformance -run TestMutation      # SEEDS of each, as below
    go test ./conformance -run TestMutation -update                   # writes this page and testdata/mutation.json
    go test ./conformance -run TestMutation -mutants 200              # more of them
    go test ./conformance -run TestMutation -v -mutant DDP-L-01/5     # one, by its seed; -mutant-trace FILE keeps its trace

- **mutants**: traces with the fault that differ from the one without it, in which the rule is not broken anyway.
- **found**: the rule is found to be broken.
- **elsewhere**: not this one, but one that it yields to, or one whose fault it is at that place: a pointer of a marker is judged by
  another rule at the first octet of an FPDU than inside of it.
- **not judged**: not found, and the verdict says so: evidence was late or is lost in the noise of the link.
- **missed**: neither. Each of these has its reason in the table behind; without one the test fails.
- **told**: the share of the mutants that are found, here or elsewhere.

The figures say that a rule does not depend on the trace for which it was written: on where in the stream the fault stands, who commits
it, what is around it, how it is cut into packets. They do not say that every breach of a rule is found. A rule may be broken in ways that its
scenario does not show; a fault is one of each kind, in traffic of one generator, and a mutant has no second fault beside it. What else is found
on the mutants is listed in conformance/testdata/mutation.json, and the test fails when that changes: more findings than
the fault has consequences would be false alarms. [mutation-cut.md](mutation-cut.md) tells of the same traces where evidence is missing.

| rule | mutants | found | elsewhere | not judged | missed | told |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
ROWS

Missed:

| rule | mutants | reason |
| --- | ---: | --- |
WHY

Shown by their own scenario only, since their fault cannot stand elsewhere:

| rule | reason |
| --- | --- |
OWN
`

func cutPage(outcome map[string]map[string]int) []byte {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(outcome)) {
		o := outcome[what]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", what, o["fail"], o["elsewhere"], o["not-judged"], o["not-applicable"], o["pass"])
	}
	r := strings.NewReplacer("ROWS\n", b.String(), "SEEDS", fmt.Sprint(usualCut))
	return []byte(r.Replace(cutText))
}

const cutText = `<!-- Written by go test ./conformance -run TestMutation -update; change conformance/mutation_table_test.go, not this. -->

# Mutations, with evidence missing

The traces of [mutation.md](mutation.md), SEEDS of each rule, captured in part. Something is cut away in front of the fault, behind it, around it
or over it, and the rule whose fault it is, and all others, are judged by what is left:

- The verdict on the rule is never *pass*, on the connection with the fault: whether what is left shows the fault or not, it does not
  show that the rule was kept. Only what comes behind the end of a capture is not meant by a verdict.
- No rule is found to be broken, at or above a warning, that the whole trace does not show to be broken; one that gives way to
  another may come in its place.
- Where the fault is not in what was captured, the verdict is *not judged*, or the rule does not apply to anything that is there. It is
  *fail* where another copy of the fault, or more of it, was captured: the retransmission of a packet, the next segment that is too large.

What a rule needs is told by its gates. This follows for the verdict:

| missing | gate | why |
| --- | --- | --- |
| the start of the connection | G-START | what the rule speaks of may have come before the capture |
| packets, in either direction | G-CONTIG | it may have been among them |
| one direction | G-BIDIR | it may have been in the other one |
| octets or chunks behind the snap length, so that PDUs were not found | G-SYNC | it may have been one of those |
| octets of a PDU, for rules that look at them | G-FULL | they may have been wrong |
| the rest of a message, at the end of the capture | G-MSGSYNC | the message is judged when it is over |

A rule on startup frames alone passes when both of them were captured, whatever else is missing.

| capture | fail | elsewhere | not judged | not applicable | pass |
| --- | ---: | ---: | ---: | ---: | ---: |
ROWS

    go test ./conformance -run TestMutation_Cut                       # one mutant of each rule
    IWDISSECT_CAMPAIGN=1 go test ./conformance -run TestMutation_Cut  # SEEDS of each, as above
    go test ./conformance -run TestMutation_Cut -mutants-cut 25       # more of them
`
