// Package heterogeneity measures what clients with unlike data cost DeComFL, and how much of that
// FedProx and SCAFFOLD recover.
package heterogeneity
