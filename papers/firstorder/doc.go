// Package firstorder trains by gradients and sends whole models, as the methods do with which
// DeComFL's figures compare it: FedAvg, and variants of it. It is a simulation for comparison. No
// client or coordinator of Zofl runs here, and what it counts are gradients, never queries.
package firstorder
