"""Recebe os webhooks da API de pedidos e guarda cada pedido num arquivo SQLite.

Só a biblioteca padrão do Python 3.9 ou mais novo. O README da pasta acima diz como rodar.
"""
import base64, contextlib, hashlib, hmac, http.server, json, os, sqlite3, sys, time

# dois segredos, separados por espaço, durante uma troca
SEGREDOS = [base64.b64decode(s[len("whsec_"):], validate=True) for s in os.environ["ORDERS_WEBHOOK_SECRET"].split()]
if not SEGREDOS or min(map(len, SEGREDOS)) < 24:  # com uma chave vazia, qualquer um assinaria
    sys.exit("ORDERS_WEBHOOK_SECRET não tem um segredo inteiro: copie nela o do endpoint, que começa com whsec_.")
BANCO = os.environ.get("ORDERS_DB", "webhooks.db")
TOLERANCIA, MAIOR_CORPO = 300, 1_048_576
# um evento mais antigo que o guardado não muda nada: o timestamp decide primeiro, porque a sequence pode recomeçar;
# uma linha de antes de haver timestamp tem '': só a sequence decide; um evento sem o pedido (thin) marca que falta buscá-lo
GUARDA = """INSERT INTO pedidos (id, timestamp, sequence, buscar, pedido)
    VALUES (:id, :timestamp, :sequence, :buscar, :pedido)
    ON CONFLICT (id) DO UPDATE SET timestamp = :timestamp, sequence = :sequence, buscar = :buscar,
      pedido = CASE WHEN :buscar THEN pedidos.pedido ELSE :pedido END
    WHERE CASE pedidos.timestamp WHEN '' THEN :sequence > pedidos.sequence
      ELSE (:timestamp, :sequence) > (pedidos.timestamp, pedidos.sequence) END"""


def confere(corpo, cabecalhos):
    """None se a assinatura e o instante conferem; senão, o motivo da recusa."""
    evento, instante = cabecalhos.get("webhook-id", ""), cabecalhos.get("webhook-timestamp", "")
    assinado = f"{evento}.{instante}.".encode() + corpo  # os bytes exatos, e não o JSON gerado de novo
    esperadas = [base64.b64encode(hmac.new(segredo, assinado, hashlib.sha256).digest()) for segredo in SEGREDOS]
    recebidas = cabecalhos.get("webhook-signature", "").split(" ")
    certas = [hmac.compare_digest(f"v1,{e.decode()}".encode(), r.encode()) for e in esperadas for r in recebidas]
    if not any(certas):
        return "nenhuma assinatura confere: é o segredo deste endpoint?"
    if not instante.isdecimal() or abs(time.time() - int(instante)) > TOLERANCIA:
        return "o instante está a mais de 5 minutos: confira o relógio desta máquina"
    return None


def guarda(evento):
    """Guarda o evento e o pedido: os dois ou nenhum. Diz se havia algo novo."""
    removido, pedido = evento["type"] == "order.removed", evento.get("data")
    linha = {
        "id": evento["order_id"],
        "timestamp": evento["timestamp"],
        "sequence": evento["sequence"],
        "buscar": not removido and pedido is None,
        # de um pedido removido ficam só timestamp e sequence, para que um evento antigo não o traga de volta
        "pedido": None if removido or pedido is None else json.dumps(pedido),
    }
    with contextlib.closing(sqlite3.connect(BANCO, timeout=10)) as banco, banco:
        banco.execute("DELETE FROM eventos WHERE recebido_em < ?", [time.time() - 90 * 86400])
        novo = banco.execute("INSERT OR IGNORE INTO eventos VALUES (?, ?)", [evento["id"], time.time()]).rowcount
        return novo and evento["order_id"] is not None and banco.execute(GUARDA, linha).rowcount


class Receptor(http.server.BaseHTTPRequestHandler):
    timeout = 10  # segundos sem um byte: uma conexão que para no meio não ocupa uma thread para sempre

    def do_POST(self):
        tamanho = int(self.headers.get("content-length") or MAIOR_CORPO + 1)
        if not 0 <= tamanho <= MAIOR_CORPO:
            return self.responde(413)
        corpo = self.rfile.read(tamanho)
        motivo = confere(corpo, self.headers)
        if motivo:
            print(motivo, file=sys.stderr)
            return self.responde(400)
        evento = json.loads(corpo)
        mudou = guarda(evento)  # se falhar, a conexão se fecha sem resposta, e a API tenta de novo
        self.responde(204)
        if mudou:  # o trabalho demorado vem depois da resposta, a partir do que está no banco
            print(evento["type"], evento["order_id"], flush=True)

    def responde(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_):
        pass


os.umask(0o077)  # só este usuário lê o arquivo novo, que tem dados pessoais
with contextlib.closing(sqlite3.connect(BANCO)) as banco, banco:
    banco.execute("CREATE TABLE IF NOT EXISTS eventos (id TEXT PRIMARY KEY, recebido_em REAL)")
    banco.execute("CREATE INDEX IF NOT EXISTS eventos_por_data ON eventos (recebido_em)")
    banco.execute("CREATE TABLE IF NOT EXISTS pedidos (id TEXT PRIMARY KEY, sequence INTEGER, buscar INTEGER, pedido TEXT)")
    if "timestamp" not in [coluna[1] for coluna in banco.execute("PRAGMA table_info(pedidos)")]:
        banco.execute("ALTER TABLE pedidos ADD COLUMN timestamp TEXT NOT NULL DEFAULT ''")
servidor = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receptor)
print(f"escutando em http://127.0.0.1:{servidor.server_port}/", file=sys.stderr, flush=True)
servidor.serve_forever()
