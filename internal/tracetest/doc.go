// Package tracetest makes captures for tests: a [Dialog] is what two sides say,
// with the truth of which PDU lies where; [TCP] cuts it into packets; functions
// such as [Shuffle], [Overlap] and [Drop] do to the packets what networks and
// capture points do; [Net] turns them into frames, of which a source or a file
// is made. [Collect] keeps what an analysis finds, for comparison.
//
// Everything is made by a seed that the test gives, so a failure repeats. The
// package imports neither analysis nor reassembly: a test that used them on
// both ends would not see their faults.
package tracetest
