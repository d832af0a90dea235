package api

import (
	"net/http"
)

// routes fills the table. A subject's routes are registered beside its handlers.
func (s *Server) routes() {
	s.statusRoutes()
	s.blockRoutes()
	s.transactionRoutes()
	s.eventRoutes()
	s.messageRoutes()
	s.contractRoutes()
	s.addressRoutes()
	s.walletRoutes()
	s.bridgeRoutes()
	s.tokenLiveRoutes()
	s.tokenControlRoutes()
	s.tokenPoolRoutes()
	s.contractReadRoutes()
	s.tokenRoutes()
	s.transferRoutes()
	s.metaRoutes()
}

// relayError sends the failure of a handler.
func (s *Server) relayError(w http.ResponseWriter, r *http.Request, req *request) {
	e := req.failure
	if e == nil {
		e = &Error{Code: CodeInternal, Message: "Something went wrong on our side."}
	}
	if e.Cause != nil {
		s.log.Error("request failed", "request_id", req.id, "operation", req.route.ID, "code", string(e.Code), "err", e.Cause)
	}
	sendError(w, r, e, req.id, req.route)
}
