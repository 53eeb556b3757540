unit System.Net.HttpClient;

{$mode delphi}

{ Delphi's THTTPClient, on FPC's TFPHTTPClient: a status of any value is a response, no exception. }
interface

uses
  SysUtils, Classes, fphttpclient;

type
  IHTTPResponse = interface
    function GetStatusCode: Integer;
    function GetHeaderValue(const Name: string): string;
    function ContentAsString(const Encoding: TEncoding): string;
    property StatusCode: Integer read GetStatusCode;
    property HeaderValue[const Name: string]: string read GetHeaderValue;
  end;

  THTTPClient = class
  private
    FHeaders: TStringList;
    FConnectionTimeout, FResponseTimeout: Integer;
    FHandleRedirects: Boolean;
    procedure SetCustomHeader(const Name, Value: string);
  public
    constructor Create;
    destructor Destroy; override;
    function Get(const URL: string): IHTTPResponse;
    property ConnectionTimeout: Integer read FConnectionTimeout write FConnectionTimeout;
    property ResponseTimeout: Integer read FResponseTimeout write FResponseTimeout;
    property HandleRedirects: Boolean read FHandleRedirects write FHandleRedirects;
    property CustomHeaders[const Name: string]: string write SetCustomHeader;
  end;

implementation

type
  THTTPResponse = class(TInterfacedObject, IHTTPResponse)
  private
    FStatusCode: Integer;
    FHeaders: TStringList;
    FContent: string;
  public
    constructor Create(Client: TFPHTTPClient; const Content: string);
    destructor Destroy; override;
    function GetStatusCode: Integer;
    function GetHeaderValue(const Name: string): string;
    function ContentAsString(const Encoding: TEncoding): string;
  end;

constructor THTTPResponse.Create(Client: TFPHTTPClient; const Content: string);
begin
  FStatusCode := Client.ResponseStatusCode;
  FHeaders := TStringList.Create;
  FHeaders.NameValueSeparator := ':';
  FHeaders.Assign(Client.ResponseHeaders);
  FContent := Content;
end;

destructor THTTPResponse.Destroy;
begin
  FHeaders.Free;
  inherited;
end;

function THTTPResponse.GetStatusCode: Integer;
begin
  Result := FStatusCode;
end;

function THTTPResponse.GetHeaderValue(const Name: string): string;
begin
  Result := Trim(TFPHTTPClient.GetHeader(FHeaders, Name));
end;

function THTTPResponse.ContentAsString(const Encoding: TEncoding): string;
begin
  if Encoding <> TEncoding.UTF8 then
    raise Exception.Create('The responses are UTF-8');
  Result := FContent;
end;

constructor THTTPClient.Create;
begin
  FHeaders := TStringList.Create;
  FHandleRedirects := True;
end;

destructor THTTPClient.Destroy;
begin
  FHeaders.Free;
  inherited;
end;

procedure THTTPClient.SetCustomHeader(const Name, Value: string);
begin
  FHeaders.Add(Name + ': ' + Value);
end;

function THTTPClient.Get(const URL: string): IHTTPResponse;
var
  Client: TFPHTTPClient;
  Body: TStringStream;
begin
  Client := TFPHTTPClient.Create(nil);
  Body := TStringStream.Create('');
  try
    Client.ConnectTimeout := FConnectionTimeout;
    Client.IOTimeout := FResponseTimeout;
    Client.AllowRedirect := FHandleRedirects;
    Client.RequestHeaders.Assign(FHeaders);
    Client.HTTPMethod('GET', URL, Body, []);
    Result := THTTPResponse.Create(Client, Body.DataString);
  finally
    Body.Free;
    Client.Free;
  end;
end;

end.
