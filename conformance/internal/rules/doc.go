// Package rules defines what a rule is: a [Rule] is one literal with its id, the evidence
// it needs, and for each kind of event a scope (Applies) and a judgement (Judge). The
// packages below this one list the rules by subject.
//
// A rule reads the facts of package model and reports violations with [Report.Report].
// It does not change the model, and it keeps no state of its own: what it needs to
// remember is a fact and belongs to the model. Applies decides whether and on what
// evidence a rule can be judged, and reports nothing.
//
// The package imports the catalogue and the model. The engine in package conformance
// asks the rules, and decides which findings stand ([Standing]).
package rules
