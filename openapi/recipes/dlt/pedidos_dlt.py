"""Carrega os pedidos da conta no DuckDB e mantém a cópia em dia: rode de novo quando quiser.

Na primeira vez vem tudo; depois, só o que mudou. `--completa` lê tudo de novo e tira o que já não é da conta.
O README da pasta acima diz como rodar.
"""
import itertools
import os
import pathlib
import sys

# Antes do import: nada sai para os autores do dlt, e os pedidos de uma carga que terminou não ficam em arquivos dele.
os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")
os.environ.setdefault("LOAD__DELETE_COMPLETED_JOBS", "true")
os.umask(0o077)  # só este usuário lê os arquivos novos, que têm dados pessoais

import dlt
from dlt.pipeline.exceptions import PipelineStepFailed
from dlt.sources.helpers.requests import Client
from dlt.sources.rest_api import rest_api_source
from requests import HTTPError, RequestException

SOBREPOSICAO_S = 60
ESTADO = pathlib.Path("pedidos.estado").absolute()
CONTA = ESTADO / "conta.txt"  # o estado do dlt se perde quando a primeira carga falha
DATAS = ["created_at", "paid_at", "canceled_at", "updated_at", "payment__refunded_at"]


def sem_metades(valor):
    """Troca a metade de um emoji, que um texto cortado deixa e o dlt recusa, pelo sinal de caractere perdido."""
    if isinstance(valor, str):
        return valor.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(valor, dict):
        return {sem_metades(nome): sem_metades(interno) for nome, interno in valor.items()}
    return [sem_metades(item) for item in valor] if isinstance(valor, list) else valor


# Em 429, em 5xx e quando a rede falha, espera e tenta de novo; a borda pede até 300 s.
SESSAO = Client(raise_for_status=False, request_max_attempts=8, request_max_retry_delay=300).session


def fonte(url: str, chave: str):
    leitura = itertools.count()

    def com_ordem_de_leitura(pedido):
        # Um pedido que muda durante a leitura vem duas vezes: vale a última.
        return {**sem_metades(pedido), "ordem_de_leitura": next(leitura)}

    pedidos = rest_api_source(
        {
            "client": {
                "base_url": url.rstrip("/") + "/v1/",
                "auth": {"type": "bearer", "token": chave},
                "paginator": {
                    "type": "cursor",
                    "cursor_path": "next_cursor",
                    "cursor_param": "cursor",
                    "has_more_path": "has_more",
                },
                "session": SESSAO,
            },
            "resources": [
                {
                    "name": "pedidos",
                    "primary_key": "id",
                    "write_disposition": "merge",
                    "columns": {
                        **{nome: {"data_type": "timestamp"} for nome in DATAS},
                        "ordem_de_leitura": {"data_type": "bigint", "dedup_sort": "desc"},
                        # Mapas com chaves livres: uma coluna por chave não teria fim.
                        "tracking": {"data_type": "json"},
                        "metadata": {"data_type": "json"},
                    },
                    "processing_steps": [{"map": com_ordem_de_leitura}],
                    "endpoint": {
                        "path": "orders",
                        # Sem include_undated, `updated_gte` deixaria para trás os pedidos sem updated_at.
                        "params": {"sort": "updated_at_asc", "limit": 100, "include_undated": "true"},
                        "data_selector": "data",
                        "incremental": {
                            "cursor_path": "updated_at",
                            "start_param": "updated_gte",
                            "lag": SOBREPOSICAO_S,
                            "on_cursor_value_missing": "include",
                        },
                    },
                }
            ],
        }
    )
    # Um texto livre que parece um instante, como um utm_content, não é uma data.
    pedidos.schema.remove_type_detection("iso_timestamp")
    return pedidos


def conta(url: str, chave: str) -> str:
    resposta = SESSAO.get(url.rstrip("/") + "/v1/account", headers={"Authorization": f"Bearer {chave}"})
    resposta.raise_for_status()
    dona = resposta.json()
    return f"{dona['id']} (sandbox)" if dona["test"] else dona["id"]


def confere_conta(da_chave: str) -> bool:
    """Recusa a chave de outra conta, ou do sandbox, que deixaria pedidos de fora. Diz se a cópia é nova."""
    nova = not CONTA.exists()
    if nova:
        ESTADO.mkdir(exist_ok=True)
        CONTA.write_text(da_chave)
    da_copia = CONTA.read_text()
    if da_copia != da_chave:
        sys.exit(
            f"A cópia é de {da_copia}, e a chave, de {da_chave}. Nada mudou na cópia. "
            "Para começar uma cópia nova, rode em outra pasta, ou apague pedidos.duckdb e pedidos.estado."
        )
    return nova


def explicacao(falha: BaseException) -> str:
    """O que fazer com uma falha do banco ou uma recusa da API; a borda recusa sem JSON."""
    if isinstance(falha, PipelineStepFailed) and falha.step in ("sync", "load"):
        return "Feche outros programas que usam pedidos.duckdb e confira o espaço em disco; ao rodar de novo, nada se perde."
    while falha is not None and not isinstance(falha, HTTPError):
        falha = falha.__cause__ or falha.__context__
    if falha is None:
        return "Confira ORDERS_API_URL e a rede; ao rodar de novo, nada se perde."
    try:
        erro = falha.response.json()["error"]
        return f"{falha.response.status_code} {erro['message']} (request_id {erro['request_id']})"
    except (ValueError, KeyError, TypeError):
        return f"A API recusou com {falha.response.status_code}, sem dizer por quê. Confira se ORDERS_API_URL começa com https://."


def ajuste(nome: str) -> str:
    # Um fim de linha do Windows não é da chave, e o erro que ele causa a mostraria inteira.
    return os.environ[nome].strip()


def principal() -> None:
    carga = dlt.pipeline(
        pipeline_name="pedidos",
        # Ao lado do banco: o ponto em que se está vale para este banco e nenhum outro.
        pipelines_dir=str(ESTADO),
        destination=dlt.destinations.duckdb("pedidos.duckdb"),
        dataset_name="vendas",
    )
    refresh = "drop_data" if "--completa" in sys.argv else None
    acesso = (ajuste("ORDERS_API_URL"), ajuste("ORDERS_API_KEY"))
    nova = False
    try:
        nova = confere_conta(conta(*acesso))
        if carga.has_pending_data:  # de uma carga que falhou; com ela pendente, o dlt não lê nada da API
            print(carga.run())
        print(carga.run(fonte(*acesso), refresh=refresh))
    except (PipelineStepFailed, RequestException) as falha:
        if nova and isinstance(falha, PipelineStepFailed) and falha.step == "extract":
            CONTA.unlink()  # nada ficou na cópia: a conta pode ser a errada
        print(falha, file=sys.stderr)
        sys.exit(explicacao(falha))


if __name__ == "__main__":
    principal()
