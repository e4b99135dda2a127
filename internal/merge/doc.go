// Package merge puts the results of capture points together: totals, tables, diagnoses, and
// whether findings fail the gate. It reads the tables of package dataset, one point at a time, and
// keeps sums only.
package merge
