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
	detected := y.Mutants - y.Missed - y.NotJudged
	fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d%% |\n", id, y.Mutants, y.Found, y.Elsewhere, y.NotJudged, y.Missed, 100*detected/max(y.Mutants, 1))
}

const mutationText = `<!-- Written by go test ./conformance -run TestMutation -update; change conformance/mutation_table_test.go, not this. -->

# Mutations

Each rule that is checked has a scenario that breaks it. This test puts the fault of that scenario into other traffic: random legal
scripts with one or two connections of any dialect of MPA, with and without markers and CRC, over IPv4 and IPv6, over
TCP and SCTP, with segments of many sizes, over links that lose, repeat and reorder packets. A fault of one message is moved
to a message of the same kind in the script, in either direction. Any other fault is put into the script together with its own
steps. The trace with the fault is compared with the trace of the same script without it.

    go test ./conformance -run TestMutation                           # one mutant of each rule
    IWDISSECT_CAMPAIGN=1 go test ./conformance -run TestMutation      # SEEDS of each, as below
    go test ./conformance -run TestMutation -update                   # writes this page and testdata/mutation.json
    go test ./conformance -run TestMutation -mutants 200              # more of them
    go test ./conformance -run TestMutation -v -mutant DDP-L-01/5     # one, by its seed; -mutant-trace FILE keeps its trace

- **mutants**: traces that the fault changes, and in which the rule is not broken without the fault.
- **found**: the rule is found to be broken.
- **elsewhere**: another rule is found to be broken: one that this rule yields to, or the one that is responsible at that place. For example, one rule judges
  the pointer of a marker at the first octet of an FPDU, another the pointer of a marker inside it.
- **not judged**: not found, and the verdict says so: evidence was late or was lost on the link.
- **missed**: neither found nor *not judged*. The second table gives the reason for each; without a reason the test fails.
- **detected**: the share of the mutants that are found, here or elsewhere.

The figures show that a rule does not depend on the trace for which it was written: on the place of the fault in the stream, the side that commits
it, the traffic around it, or the way it is cut into packets. They do not show that every violation of a rule is found. A rule may be broken in ways that its
scenario does not show, there is one fault for each rule, one generator makes all traffic, and a mutant has only one fault. Other findings
on the mutants are listed in conformance/testdata/mutation.json, and the test fails when they change: findings that do not follow
from the fault would be false alarms. [mutation-cut.md](mutation-cut.md) has the results for the same traces with evidence missing.

| rule | mutants | found | elsewhere | not judged | missed | detected |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
ROWS

Missed:

| rule | mutants | reason |
| --- | ---: | --- |
WHY

Tested only with their own scenario, because their fault is not possible elsewhere:

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

The traces of [mutation.md](mutation.md), SEEDS of each rule, captured only in part. Packets or octets before, after, around or at the fault
are cut away, and all rules are judged by the rest:

- On the connection with the fault, the verdict on the rule is never *pass*: whether or not the rest shows the fault, it does not
  show that the rule was kept. An exception is a fault after the end of the capture, since a verdict covers only what was captured.
- No rule is found to be broken, at or above a warning, unless the whole trace shows that it is broken; a rule that yields to
  another may take its place.
- If the fault was not captured, the verdict is *not judged*, or the rule does not apply to anything in the capture. It is
  *fail* if another copy or another part of the fault was captured: the retransmission of a packet, the next segment that is too large.

The gates of a rule say what evidence it needs. If evidence is missing, the verdict is *not judged* with one of these gates:

| missing | gate | why |
| --- | --- | --- |
| the start of the connection | G-START | the evidence may have come before the capture |
| packets, in either direction | G-CONTIG | it may have been among them |
| one direction | G-BIDIR | it may have been in the missing direction |
| octets or chunks beyond the snap length, so that PDUs were not found | G-SYNC | it may have been one of those |
| octets of a PDU, for rules that look at them | G-FULL | they may have been wrong |
| the rest of a message, at the end of the capture | G-MSGSYNC | a message is judged when it is complete |

A rule about startup frames only passes if both of them were captured, whatever else is missing.

| capture | fail | elsewhere | not judged | not applicable | pass |
| --- | ---: | ---: | ---: | ---: | ---: |
ROWS

    go test ./conformance -run TestMutation_Cut                       # one mutant of each rule
    IWDISSECT_CAMPAIGN=1 go test ./conformance -run TestMutation_Cut  # SEEDS of each, as above
    go test ./conformance -run TestMutation_Cut -mutants-cut 25       # more of them
`
