// Package heterogeneity measures how much accuracy DeComFL loses if clients have unlike data, and
// how much of this loss FedProx and SCAFFOLD recover.
package heterogeneity
