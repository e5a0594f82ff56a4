// Package cma leads a run with server_rule=cma: how many candidates a record has, from which sigma
// the run begins, and when it begins anew. The coordinator knows neither the model nor its sigma.
// It sees the mean scalars of records and the least losses of devices.
package cma
