// Package enrol keeps the list of users who may take part in a run: a NATS operator and two
// accounts with decentralized JWTs, the certificates of a broker, and the users. All files are in
// one directory, which the broker's owner must keep secret:
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
