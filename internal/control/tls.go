package control

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// TLSMode says in words how a connection to the PostgreSQL at an address is
// protected, so that an operator reads it at the start and not after a leak.
func TLSMode(address string) string {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return "unknown"
	}
	if strings.HasPrefix(config.Host, "/") {
		return "none, over a socket of this machine"
	}
	plain := config.TLSConfig == nil
	for _, f := range config.Fallbacks {
		plain = plain || f.TLSConfig == nil
	}
	switch {
	case config.TLSConfig == nil && len(config.Fallbacks) == 0:
		return "none: everything crosses the network in the clear (sslmode=disable)"
	case plain:
		return "if the server offers it, and in the clear otherwise (sslmode=prefer or allow); sslmode=verify-full is safe"
	case config.TLSConfig.InsecureSkipVerify && config.TLSConfig.VerifyPeerCertificate == nil && config.TLSConfig.VerifyConnection == nil:
		return "required, but the server's certificate is not checked (sslmode=require); sslmode=verify-full is safe"
	case config.TLSConfig.InsecureSkipVerify:
		return "required, the server's certificate is checked, its name is not (sslmode=verify-ca)"
	default:
		return "required, with the server's certificate and name checked (sslmode=verify-full)"
	}
}
