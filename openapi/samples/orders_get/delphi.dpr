// Busca um pedido: Pedido.exe ord_…  Delphi 10.3 ou mais novo, sem componentes.
program Pedido;

{$APPTYPE CONSOLE}

uses
  System.SysUtils, System.Classes, System.Math, System.NetEncoding, System.Net.HttpClient,
  System.Net.URLClient;

function Get(const Path: string): string;
var
  Http: THTTPClient;
  Response: IHTTPResponse;
  Attempt, Status, Seconds: Integer;
begin
  Http := THTTPClient.Create;
  try
    Http.ConnectionTimeout := 10000;
    Http.ResponseTimeout := 30000;
    Http.HandleRedirects := False; // Um redirecionamento não leva a chave.
    Http.CustomHeaders['Authorization'] := 'Bearer ' + GetEnvironmentVariable('ORDERS_API_KEY');
    for Attempt := 0 to 5 do
    begin
      Response := Http.Get(GetEnvironmentVariable('ORDERS_API_URL') + Path);
      Status := Response.StatusCode;
      Result := Response.ContentAsString(TEncoding.UTF8);
      if (Status = 200) and (Pos('"object":"order"', Result) = 0) then
        raise Exception.Create('A resposta não é da API. Confira ORDERS_API_URL.');
      if Status = 200 then
        Exit;
      // Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
      if ((Status <> 429) and (Status < 500)) or (Attempt = 5) then
        raise Exception.CreateFmt('%d %s', [Status, Result]);
      Seconds := StrToIntDef(Response.HeaderValue['Retry-After'], 0);
      TThread.Sleep(1000 * Max(Seconds, 1 shl Attempt));
    end;
  finally
    Http.Free;
  end;
end;

begin
  try
    Writeln(Get('/v1/orders/' + TNetEncoding.URL.Encode(ParamStr(1))));
  except
    on E: Exception do
    begin
      Writeln(ErrOutput, E.Message);
      ExitCode := 1;
    end;
  end;
end.
