/// What tests ask of a running server on loopback, unsigned and unlogged.
struct ControlRequest {
    let core: ServerCore
    let request: Request

    func answer(_ body: [UInt8]) -> Answer {
        guard isOfOwnHost else {
            return text(403, "A control request names the server's own host, and no other origin.")
        }
        switch (request.method, request.target) {
        case (.get, "/-/requests"):
            core.settleLog()
            let lines = core.log.all.map { $0.json + "\n" }.joined()
            return Answer(
                200,
                headers: [("Content-Type", "application/x-ndjson")],
                body: .bytes([UInt8](lines.utf8))
            )
        case (.delete, "/-/requests"):
            core.log.clear()
            return Answer(204)
        case (.get, "/-/held"): return text(200, String(core.faults.heldCount))
        case (.post, "/-/faults"):
            do {
                core.faults.load(try FaultScript(json: body))
                return Answer(204)
            } catch {
                return text(400, error.message)
            }
        default:
            return text(404, "No such control request.")
        }
    }

    /// False for what a web page in a browser on this machine sends: it names another origin or,
    /// if the page's own name was made to lead here, another host.
    private var isOfOwnHost: Bool {
        func value(_ name: String) -> String? { request.headers.first { $0.name == name }?.value }
        guard let host = value("host")?.lowercased() else { return false }
        let end = host.lastIndex(of: ":") ?? host.endIndex
        let isOwn = [core.configuration.listenAddress, "localhost"].contains(String(host[..<end]))
        guard let origin = value("origin")?.lowercased() else { return isOwn }
        return isOwn && ["http://" + host, "https://" + host].contains(origin)
    }

    private func text(_ status: Int, _ message: String) -> Answer {
        Answer(
            status,
            headers: [("Content-Type", "text/plain")],
            body: .bytes([UInt8]((message + "\n").utf8))
        )
    }
}
