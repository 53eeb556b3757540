"""Copia os pedidos da conta para um arquivo SQLite e mantém a cópia em dia: rode de novo quando quiser.

Só a biblioteca padrão do Python 3.9 ou mais novo. O README da pasta acima diz como rodar.
"""
import datetime, http.client, itertools, json, os, sqlite3, sys, time, urllib.error, urllib.parse, urllib.request

# strip: um fim de linha do Windows não é da chave, e o erro que ele causa a mostraria inteira
URL, CHAVE = os.environ["ORDERS_API_URL"].strip().rstrip("/"), os.environ["ORDERS_API_KEY"].strip()
SOBREPOSICAO = datetime.timedelta(seconds=60)
MAX_RECOMECOS, recusas = 3, itertools.count(1)  # uma leitura cujo cursor a API recusa recomeça


def busca(caminho, filtros):
    """A resposta, ou None se o cursor foi recusado. Em 429, em 5xx e quando a rede falha, espera e tenta de novo."""
    for tentativa in itertools.count():
        espera = 2**tentativa
        # um pedido novo a cada vez: atrás de um proxy, o repetido sairia sem TLS
        pedido = urllib.request.Request(f"{URL}/v1/{caminho}?{urllib.parse.urlencode(filtros)}")
        pedido.add_unredirected_header("Authorization", f"Bearer {CHAVE}")  # um redirecionamento não leva a chave
        try:
            with urllib.request.urlopen(pedido, timeout=60) as resposta:
                return json.load(resposta)
        except urllib.error.HTTPError as falha:
            if falha.code != 429 and falha.code < 500:
                return recusa(falha.code, falha.read(), filtros)
            segundos = falha.headers.get("Retry-After", "")
            # espera o maior entre Retry-After e um tempo que dobra
            motivo, espera = falha, max(int(segundos) if segundos.isdecimal() else 0, espera)
        except (OSError, http.client.HTTPException, json.JSONDecodeError, UnicodeDecodeError) as falha:
            motivo = falha  # rede fora, conexão ou resposta cortada, ou a página de um portal de rede
        if tentativa == 6:
            sys.exit(f"{URL} não respondeu ({motivo}). Confira ORDERS_API_URL; depois, a cópia segue de onde parou.")
        print(f"{motivo}: nova tentativa em {espera} s", file=sys.stderr)
        time.sleep(espera)


def recusa(status, corpo, filtros):
    try:
        erro = json.loads(corpo)["error"]
        motivo = f"{status} {erro['message']} (request_id {erro['request_id']})"
    except (ValueError, KeyError, TypeError):  # a borda responde sem JSON, ou outro servidor com o seu
        sys.exit(f"A API recusou com {status}, sem dizer por quê. Confira se ORDERS_API_URL começa com https://.")
    if erro.get("param") != "cursor" or "cursor" not in filtros or next(recusas) > MAX_RECOMECOS:
        sys.exit(motivo)


ARQUIVO = os.environ.get("ORDERS_DB", "pedidos.db")
os.umask(0o077)  # só este usuário lê o arquivo novo, que tem dados pessoais
banco = sqlite3.connect(ARQUIVO)
banco.execute("CREATE TABLE IF NOT EXISTS pedidos (id TEXT PRIMARY KEY, updated_at TEXT, volta INTEGER, pedido TEXT)")
banco.execute("CREATE TABLE IF NOT EXISTS estado (unico INTEGER PRIMARY KEY CHECK (unico = 1), json TEXT)")
guardado = banco.execute("SELECT json FROM estado").fetchone()
estado = json.loads(guardado[0]) if guardado else {"cursor": None, "desde": None, "maior": None, "volta": 0}

# Outra chave da mesma conta continua a cópia. A de outra conta, ou do sandbox, deixaria de fora o que é mais antigo.
chave_de = busca("account", {})
conta = chave_de["id"] + (" (sandbox)" if chave_de["test"] else "")
if estado.setdefault("conta", conta) != conta:
    sys.exit(
        f"{ARQUIVO} é a cópia de {estado['conta']}, e a chave, de {conta}. Nada mudou na cópia. "
        f"Para começar uma cópia nova, ponha outro arquivo em ORDERS_DB, ou apague {ARQUIVO}."
    )

if "--completa" in sys.argv or estado["cursor"] is None:  # senão, continua a leitura que parou no meio
    estado.update(cursor=None, desde=None, volta=estado["volta"] + 1)
    if "--completa" in sys.argv:
        estado["maior"] = None  # a marca volta a ser a desta leitura: a antiga pode estar no futuro
    elif estado["maior"]:
        maior = datetime.datetime.fromisoformat(estado["maior"].replace("Z", "+00:00"))
        estado["desde"] = (maior - SOBREPOSICAO).isoformat()

ha_mais = True
while ha_mais:
    filtros = {"sort": "updated_at_asc", "limit": 100, "updated_gte": estado["desde"], "cursor": estado["cursor"]}
    pagina = busca("orders", {nome: valor for nome, valor in filtros.items() if valor is not None})
    if pagina is None:
        estado["cursor"] = None  # a mesma leitura, do começo
        continue
    ha_mais, estado["cursor"] = pagina["has_more"], pagina["next_cursor"]
    datas = [pedido["updated_at"] for pedido in pagina["data"] if pedido["updated_at"]]
    estado["maior"] = max([*datas, estado["maior"] or ""]) or None
    linhas = [(p["id"], p["updated_at"], estado["volta"], json.dumps(p)) for p in pagina["data"]]
    sobram_demais = False
    with banco:  # a página e o ponto em que se está: as duas ou nenhuma
        banco.executemany("INSERT OR REPLACE INTO pedidos VALUES (?, ?, ?, ?)", linhas)
        if not ha_mais and estado["desde"] is None:  # leu tudo: o que não veio já não é da conta
            contagem = "SELECT count(*), coalesce(sum(volta < ?), 0) FROM pedidos"
            total, sobram = banco.execute(contagem, [estado["volta"]]).fetchone()
            # uma lista vazia ou pela metade também pode ser uma falha da plataforma
            sobram_demais = total > 20 and sobram > total / 2 and "--permitir-remocao" not in sys.argv
            if not sobram_demais:
                banco.execute("DELETE FROM pedidos WHERE volta < ?", [estado["volta"]])
        banco.execute("INSERT OR REPLACE INTO estado VALUES (1, ?)", [json.dumps(estado)])
    if sobram_demais:
        sys.exit(
            f"A leitura completa não encontrou {sobram} dos {total} pedidos da cópia, mais da metade. Nada foi removido. "
            "Confira com a plataforma se eles deixaram mesmo de existir; se sim, rode com --completa --permitir-remocao."
        )
print(banco.execute("SELECT count(*) FROM pedidos").fetchone()[0], "pedidos na cópia")
