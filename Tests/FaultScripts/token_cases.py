"""Row F205: the service that exchanges the token of a role for keys."""

import http.server
import os
import threading
import urllib.parse

import program
from case_table import case, equal, expect
from scenes import pulled
from Support.server import TOKEN as TOKEN_OF_SESSION

TOKEN = "header.payload.signature"
KEYS = ("<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
        f"<AccessKeyId>{program.SESSION_KEY}</AccessKeyId><SecretAccessKey>{program.SECRET}"
        "</SecretAccessKey><SessionToken>" + TOKEN_OF_SESSION + "</SessionToken>"
        "<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>"
        "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>")
REFUSAL = ("<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>"
           f"{TOKEN}</Message></Error></ErrorResponse>")


class TokenService(http.server.ThreadingHTTPServer):
    """Answers every request with `answer`, and keeps the forms that were sent."""

    def __init__(self, place):
        service = self
        self.answer = (200, KEYS)
        self.forms = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                form = self.rfile.read(int(self.headers["Content-Length"])).decode()
                service.forms.append(dict(urllib.parse.parse_qsl(form)))
                status, text = service.answer
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        place.closers.append(self.stop)

    def stop(self):
        self.shutdown()
        self.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


@case("F205", "a role's keys are asked for with the token of a file, and a refusal is told")
def _(place):
    place.scheme = "s3"
    pulled(place)
    service = TokenService(place)
    path = os.path.join(place.folder, "token")
    with open(path, "w") as file:
        file.write(TOKEN + "\n")
    place.environment = {
        "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL_STS": service.url,
        "AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_WEB_IDENTITY_TOKEN_FILE": path}
    place.in_step(place.pull())
    place.write("new", b"new")
    place.in_step(place.push())
    equal(len(service.forms), 2, "questions, one for each run")
    equal(service.forms[0]["WebIdentityToken"], TOKEN, "the token")
    doctor = place.start("doctor", place.directory)
    expect("the role 'arn:aws:iam::1:role/r' with the token in" in doctor.output, doctor.output)
    expect("(not set up: environment, " in doctor.output, doctor.output)
    service.answer = (400, REFUSAL)
    result = place.pull()
    equal(result.status, 4, f"exit of {result}")
    expect("400 with 'ExpiredTokenException'" in result.error["message"], result.error)
    expect(TOKEN not in str(result.error), "the token in the message")
    os.remove(path)
    result = place.pull()
    equal(result.status, 4, f"exit of {result}")
    expect("there is no such file" in result.error["message"], result.error)
    place.environment = {}
    place.in_step(place.pull())
