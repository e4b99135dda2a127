// Package rules says what a rule is, and asks rules about what the model tells. The rules
// themselves are in the packages below it, by subject.
package rules
