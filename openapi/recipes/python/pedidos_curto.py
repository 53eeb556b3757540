"""O mesmo que pedidos.py em 35 linhas: uma leitura cortada não deixa nada pela metade, mas recomeça do início."""
import datetime, itertools, json, os, sqlite3, sys, time, urllib.error, urllib.parse, urllib.request

URL, CHAVE = os.environ["ORDERS_API_URL"].strip().rstrip("/"), os.environ["ORDERS_API_KEY"].strip()


def busca(caminho, filtros):
    for tentativa in itertools.count():  # espera o maior entre Retry-After e um tempo que dobra
        pedido = urllib.request.Request(f"{URL}/v1/{caminho}?{urllib.parse.urlencode(filtros)}")  # sempre novo: proxies
        pedido.add_unredirected_header("Authorization", f"Bearer {CHAVE}")
        try:
            with urllib.request.urlopen(pedido, timeout=60) as resposta:
                return json.load(resposta)
        except urllib.error.HTTPError as falha:
            if falha.code not in (429, 502, 503, 504):
                sys.exit(f"A API recusou: {falha.code} {falha.read().decode()} (o endereço começa com https://?)")
            espera = max(2 ** min(tentativa, 6), int(s) if (s := falha.headers.get("Retry-After", "")).isdecimal() else 0)
            print(f"{falha}: nova tentativa em {espera} s", file=sys.stderr)
            time.sleep(espera)


os.umask(0o077)  # só este usuário lê o arquivo novo, que tem dados pessoais
banco = sqlite3.connect(os.environ.get("ORDERS_DB", "pedidos_curto.db"))
with banco:  # a leitura toda ou nada
    banco.execute("CREATE TABLE IF NOT EXISTS pedidos (id TEXT PRIMARY KEY, updated_at TEXT, pedido TEXT)")
    conta = json.dumps({campo: valor for campo, valor in busca("account", {}).items() if campo in ("id", "test")})
    banco.execute("CREATE TABLE IF NOT EXISTS conta (dona TEXT)")
    banco.execute("INSERT INTO conta SELECT ? WHERE NOT EXISTS (SELECT * FROM conta)", [conta])
    if banco.execute("SELECT dona FROM conta").fetchone() != (conta,):  # a chave de outra conta, ou do sandbox
        sys.exit(f"A cópia não é de {conta}: para uma cópia nova, ponha outro arquivo em ORDERS_DB.")
    filtros = {"sort": "updated_at_asc", "limit": 100}  # sem outro filtro, traz também os pedidos sem updated_at
    if maior := banco.execute("SELECT max(updated_at) FROM pedidos").fetchone()[0]:
        folga = datetime.datetime.fromisoformat(maior.replace("Z", "+00:00")) - datetime.timedelta(seconds=60)
        filtros["updated_gte"] = folga.isoformat()
    while filtros.get("cursor", "") is not None:
        pagina = busca("orders", filtros)
        filtros["cursor"] = pagina["next_cursor"]
        linhas = [(p["id"], p["updated_at"], json.dumps(p)) for p in pagina["data"]]
        banco.executemany("INSERT OR REPLACE INTO pedidos VALUES (?, ?, ?)", linhas)
print(banco.execute("SELECT count(*) FROM pedidos").fetchone()[0], "pedidos na cópia")
