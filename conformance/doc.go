// Package conformance judges connections by the rules of the RFCs.
//
// An [Engine] is a sink of the dissection. It keeps a model of each connection and has
// the rules judge each event: a startup frame, an FPDU, a segment, a complete message,
// a Terminate, octets outside of FPDUs, the end of the connection, and the end of the
// capture for rules that compare connections. A rule names the evidence that it needs
// (see [Gate]). If evidence is missing, the rule is not asked, and its verdict is
// [NotJudged].
//
// The code is in four places, and imports point in one direction only:
//
//   - conformance/catalogue says what each rule is called and demands, and how severe a
//     violation is. It imports nothing of the others.
//   - conformance/internal/model holds the facts about a connection. It contains no rule.
//   - conformance/internal/rules and the packages below it, one per subject, judge those
//     facts. They do not change the model.
//   - This package runs the model and the rules, decides which findings stand, and keeps
//     the verdicts. [Checked] lists the entries that have a rule.
//
// A finding stands unless another one explains it (engine_settle.go). Advice, which is
// about behaviour that no RFC demands, is asked last, since it explains findings. Only
// acknowledgements establish the order between the two directions, never time stamps.
//
// Nearly all traffic looks alike. Rules that depend only on the shape of an event judge
// each shape once per direction, and the FPDUs of a long Write are only counted.
package conformance
