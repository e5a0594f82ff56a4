// Package enrol keeps who may take part in a run: an operator and two accounts of NATS with
// decentralized JWTs, the certificates of a broker, and the users. All of it is in one directory,
// which the broker's owner keeps to himself:
//
//	about.json                  the run, and where its broker is
//	operator.seed               the key that signs the accounts
//	account.seed, system.seed   the keys that sign the users of the run, and of the broker
//	accounts/*.jwt              the accounts, with the users that were revoked
//	users/NAME.json             role and public key of each user; its seed is in its creds file only
//	ca.pem, ca.key              the authority that signed the broker's certificate
//	server.pem, server.key      that certificate
//	nats.conf                   a configuration for nats-server, made anew at each start
package enrol
