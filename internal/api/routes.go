package api

// routes fills the table. A subject's routes are registered beside its handlers.
func (s *Routes) routes() {
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
	s.tokenHolderRoutes()
	s.privacyListRoutes()
	s.privacyPoolRoutes()
	s.contractReadRoutes()
	s.tokenRoutes()
	s.transferRoutes()
	s.classRoutes()
	s.metaRoutes()
}
