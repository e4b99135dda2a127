// Package advice has the advisory rules, about behaviour that no RFC demands or forbids,
// but that is known from experience with stacks. They are asked last, because they
// explain the findings of the other rules.
//
// Like all packages of rules it imports package rules and the facts of package model, and
// changes neither. No package of rules imports another one.
package advice
