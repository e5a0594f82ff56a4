#!/usr/bin/env bash
# Makes what compose.yaml and the manifests of Kubernetes keep secret, once, in this folder:
# passwords.env, and certs with a certificate for the brokers and the CA that signed it.
#
#   ./secrets.sh NAME...   the names or addresses by which devices reach the brokers
set -euo pipefail
cd "$(dirname "$0")"
[ $# -gt 0 ] || { echo "secrets.sh: give the names by which devices reach the brokers" >&2; exit 2; }
[ ! -e certs ] && [ ! -e passwords.env ] || {
	echo "secrets.sh: certs or passwords.env exists: remove both, if no device knows them" >&2
	exit 1
}
umask 077
for user in SYSTEM COORDINATOR DEVICE; do
	echo "${user}_PASSWORD=p$(openssl rand -hex 16)" # a letter first: NATS reads it as a text
done >passwords.env

names=DNS:localhost,IP:127.0.0.1
for name in nats-0.nats nats-1.nats nats-2.nats "$@"; do
	[[ $name =~ ^[0-9.]+$|: ]] && names+=,IP:$name || names+=,DNS:$name
done
mkdir certs
cd certs
openssl req -x509 -newkey ed25519 -nodes -days 3650 -subj "/CN=Zofl brokers" \
	-keyout ca.key -out ca.crt 2>/dev/null
openssl req -newkey ed25519 -nodes -subj "/CN=nats" -keyout tls.key -out tls.csr 2>/dev/null
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -days 825 -out tls.crt \
	-extfile <(echo "subjectAltName=$names") 2>/dev/null
rm tls.csr
chmod a+r ca.crt tls.crt tls.key # in containers the servers are other users; the folder is yours alone
echo "passwords.env and certs are made. Devices need certs/ca.crt and DEVICE_PASSWORD."
