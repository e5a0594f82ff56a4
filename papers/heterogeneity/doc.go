// Package heterogeneity asks what clients with unlike data cost DeComFL, and what FedProx and
// SCAFFOLD win back.
package heterogeneity
