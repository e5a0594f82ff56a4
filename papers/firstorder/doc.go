// Package firstorder trains by gradients, with whole models traveling, as the methods do that
// DeComFL is compared with in its figures: FedAvg, and what others made of it. It is a
// simulation for comparison. No client or coordinator of Zofl runs here, and what it counts
// are gradients, never queries.
package firstorder
